"""Gather the facts about the machine, TensorFlow and the notebook that captures depend on."""

import ctypes
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from tfprof_nb.capture.tensorflow import is_tracing, profiler_is_started

T = TypeVar("T")

_PACKAGES = ("xprof", "grpcio", "protobuf")
_WIDGET_PACKAGES = ("ipywidgets", "anywidget", "bqplot", "jupyterlab_widgets", "widgetsnbextension")
_CAPABILITY_SYS_ADMIN = 21  # its bit in CapEff, see capabilities(7)


@dataclass(frozen=True)
class Facts:
    """Facts about the machine; an empty text, None or an empty list means that there is none, or that it is unknown.

    Attributes
    ----------
    python
        Version.
    packages
        Versions of the relevant installed packages, by name.
    tensorflow, tensorflow_error
        The version that can be imported, or why it cannot be imported.
    keras, keras_backend
        The version of Keras that can be imported, and its backend.
    devices
        Accelerators that TensorFlow sees, as ``GPU: Tesla T4``.
    driver_gpus
        GPUs that NVIDIA's driver sees.
    cuda
        The version of CUDA that TensorFlow was built for; empty for a build without CUDA.
    cupti, cupti_elsewhere
        The file of NVIDIA's profiling library that can be loaded, and files outside the search path.
    gpu_counters_restricted
        Whether the driver lets only administrators profile.
    administrator
        Whether this process has an administrator's rights.
    protobuf_implementation
        ``upb``, ``cpp`` or ``python``.
    profiler_active
        Whether a profiler runs in this process, ours or another.
    logdir, writable, free_bytes
        Where captures go, whether files can be written there, and the free space.
    front_end
        ``colab``, ``vscode``, ``jupyter`` or ``terminal``.
    """

    python: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    tensorflow: str = ""
    tensorflow_error: str = ""
    keras: str = ""
    keras_backend: str = ""
    devices: list[str] = field(default_factory=list)
    driver_gpus: list[str] = field(default_factory=list)
    cuda: str = ""
    cupti: str = ""
    cupti_elsewhere: list[str] = field(default_factory=list)
    gpu_counters_restricted: bool | None = None
    administrator: bool = False
    protobuf_implementation: str = ""
    profiler_active: bool = False
    logdir: str = ""
    writable: bool = False
    free_bytes: int | None = None
    front_end: str = "terminal"


def gather(logdir: Path) -> Facts:
    """Gather the facts; those that cannot be determined are left empty."""
    return Facts(
        python=".".join(map(str, sys.version_info[:3])),
        packages={name: version for name in (*_PACKAGES, *_WIDGET_PACKAGES) if (version := _version(name))},
        **_tensorflow_facts(),
        driver_gpus=_try(_driver_gpus, list[str]()),
        gpu_counters_restricted=_try(_counters_restricted, None),
        administrator=_try(_is_administrator, False),
        protobuf_implementation=_try(_protobuf_implementation, ""),
        logdir=str(logdir),
        writable=_try(lambda: _can_write(_existing(logdir)), False),
        free_bytes=_try(lambda: shutil.disk_usage(_existing(logdir)).free, None),
        front_end=_front_end(),
    )


def _try(find: Callable[[], T], otherwise: T) -> T:
    try:
        return find()
    except Exception:  # noqa: BLE001  (the check must work on any machine)
        return otherwise


def _version(package: str) -> str:
    return _try(lambda: metadata.version(package), "")


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def _can_write(folder: Path) -> bool:
    with tempfile.TemporaryFile(dir=folder):  # permissions do not tell in /proc and on read-only mounts
        return True


def _tensorflow_facts() -> dict[str, Any]:
    try:
        import tensorflow as tf
    except Exception as error:  # noqa: BLE001  (a broken installation can raise anything)
        missing = isinstance(error, ModuleNotFoundError) and error.name == "tensorflow"
        return {"tensorflow_error": "" if missing else f"{type(error).__name__}: {error}"}
    cuda = _try(lambda: str(tf.sysconfig.get_build_info().get("cuda_version", "")), "")
    return {
        "tensorflow": tf.__version__,
        "devices": _try(lambda: _devices(tf), list[str]()),
        "cuda": cuda,
        "cupti": _try(lambda: _loadable_cupti(cuda), ""),
        "cupti_elsewhere": _try(_installed_cupti, list[str]()),
        "profiler_active": _try(lambda: is_tracing() or profiler_is_started(), False),
        **_try(_keras_facts, dict[str, str]()),
    }


def _keras_facts() -> dict[str, str]:
    import keras

    return {"keras": keras.__version__, "keras_backend": keras.config.backend()}


def _devices(tf: Any) -> list[str]:
    found = [device for kind in ("GPU", "TPU") for device in tf.config.list_physical_devices(kind)]
    return [f"{device.device_type}: {_device_name(tf, device)}" for device in found]


def _device_name(tf: Any, device: Any) -> str:
    details = _try(lambda: tf.config.experimental.get_device_details(device), dict[str, str]())
    return str(details.get("device_name", device.name))


def _driver_gpus() -> list[str]:
    """Read the GPUs' models from the driver's folder, which needs no library of NVIDIA's."""
    files = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]


def _counters_restricted() -> bool | None:
    """Read whether only administrators may profile (NVreg_RestrictProfilingToAdminUsers)."""
    lines = Path("/proc/driver/nvidia/params").read_text(encoding="utf-8").splitlines()
    values = [line.partition(":")[2].strip() for line in lines if line.startswith("RmProfilingAdminOnly:")]
    return values[0] != "0" if values else None


def _is_administrator() -> bool:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    capabilities = next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
    return bool(capabilities >> _CAPABILITY_SYS_ADMIN & 1)


def _loadable_cupti(cuda: str) -> str:
    """Return CUPTI's file if it can be loaded as TensorFlow loads it: from a package of pip's, or by its name."""
    major = cuda.partition(".")[0]
    if not major:
        return ""
    name = f"libcupti.so.{major}"
    packaged = Path(sysconfig.get_path("purelib"), "nvidia", "cuda_cupti", "lib", name)
    for candidate in (str(packaged), name):
        try:
            ctypes.CDLL(candidate)
        except OSError:
            continue
        return candidate
    return ""


def _installed_cupti() -> list[str]:
    """Return CUPTI's files in the folders that CUDA's installers use."""
    patterns = ("cuda*/extras/CUPTI/lib64/libcupti.so*", "cuda*/lib64/libcupti.so*")
    return sorted(str(file) for pattern in patterns for file in Path("/usr/local").glob(pattern))


def _protobuf_implementation() -> str:
    from google.protobuf.internal import api_implementation

    return str(api_implementation.Type())


def _front_end() -> str:
    if "google.colab" in sys.modules:
        return "colab"
    ipython = sys.modules.get("IPython")
    if getattr(ipython.get_ipython() if ipython else None, "kernel", None) is None:
        return "terminal"
    return "vscode" if "VSCODE_PID" in os.environ else "jupyter"
