"""Which TensorFlow ran, since the same work takes other times in other versions, and whether it saw a GPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.capture.tensorflow import tensorflow
from tfprof_nb.formats.sidecar import VersionsSection

_NVIDIA_DRIVER = Path("/proc/driver/nvidia/gpus")  # a folder per GPU, on Linux


@contextmanager
def versions() -> Iterator[Gather]:
    """Collect TensorFlow's version, the number of GPUs that it sees, and whether the machine has one."""
    yield _gather


def _gather() -> VersionsSection:
    tf = tensorflow()
    return VersionsSection(
        tensorflow=tf.__version__,
        visible_gpus=len(tf.config.list_physical_devices("GPU")),
        has_nvidia_gpu=_NVIDIA_DRIVER.is_dir() and any(_NVIDIA_DRIVER.iterdir()),
    )
