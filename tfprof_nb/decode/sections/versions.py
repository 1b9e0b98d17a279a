"""Parse the section ``versions``: what ran, and the GPUs that it could use."""

from typing import NamedTuple

from tfprof_nb.formats.sidecar import VersionsSection


def read_tensorflow(section: VersionsSection | None) -> str:
    """Return TensorFlow's version, empty if it is not known."""
    return "" if section is None else str(section.get("tensorflow", ""))


class Gpus(NamedTuple):
    """GPUs of a host: how many TensorFlow saw (None: unknown), and whether the machine has one of NVIDIA's."""

    visible: int | None = None
    has_nvidia: bool = False


def read_gpus(section: VersionsSection | None) -> Gpus:
    """Return what is known of the host's GPUs."""
    if section is None or "visible_gpus" not in section:
        return Gpus()
    return Gpus(int(section["visible_gpus"]), bool(section.get("has_nvidia_gpu", False)))
