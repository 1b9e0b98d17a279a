"""What is said of CUPTI, NVIDIA's profiling library, by `check` before a capture and by profiles that lack a GPU."""

CANNOT_BE_LOADED = "{library} cannot be loaded"
ONLY_ADMINISTRATORS = "only administrators may profile the GPU (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)"
PERMIT = (
    'Put `options nvidia "NVreg_RestrictProfilingToAdminUsers=0"` into a file in `/etc/modprobe.d` and reboot; start '
    "containers with `--cap-add=SYS_ADMIN` (or `--privileged`)."
)
