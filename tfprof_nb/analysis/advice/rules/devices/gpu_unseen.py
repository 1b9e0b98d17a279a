from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

_FIX = (
    "Check that this TensorFlow is built for GPUs (`pip install tensorflow[and-cuda]`), and what "
    "`tf.config.list_physical_devices('GPU')` and the messages at `import tensorflow` say; then restart the kernel."
)

RULE = Rule(
    "gpu-unseen",
    "TensorFlow does not see this machine's GPU",
    "Looks for machines whose driver lists an NVIDIA GPU, where TensorFlow lists none.",
    "TensorFlow then runs on the CPU without an error: mostly its build, or a CUDA library, does not fit.",
    page="overview",
    frameworks=("tensorflow", "jax", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    unseen = any(gpus.has_nvidia and gpus.visible == 0 for gpus in evidence.gpus)
    if unseen and not evidence.ran_on_device and not any(gpus.visible for gpus in evidence.gpus):
        said = "NVIDIA's driver lists a GPU of this machine, and TensorFlow saw none."
        yield Case(100.0, RULE.title, said, _FIX)
