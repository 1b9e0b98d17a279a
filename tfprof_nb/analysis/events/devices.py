"""Which devices a profile was taken on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.decode import Plane

# Compute capability (major, minor) -> architecture; a capability in between belongs to the next lower one.
_ARCHITECTURES = {
    (3, 0): "Kepler",
    (5, 0): "Maxwell",
    (6, 0): "Pascal",
    (7, 0): "Volta",
    (7, 5): "Turing",
    (8, 0): "Ampere",
    (8, 9): "Ada",
    (9, 0): "Hopper",
    (10, 0): "Blackwell",
}


def device_planes(forests: Sequence[Forest]) -> Iterator[Plane]:
    """Yield the planes of accelerators."""
    for forest in forests:
        for plane in forest.host.planes:
            if plane.name.startswith(("/device:GPU:", "/device:TPU:")) and "SparseCore" not in plane.name:
                yield plane


def device_cores(forests: Sequence[Forest]) -> int:
    """Return how many accelerators the hosts recorded."""
    return sum(1 for _ in device_planes(forests))


def has_tpu(forests: Sequence[Forest]) -> bool:
    """Whether any of the hosts recorded a TPU."""
    return any(plane.name.startswith("/device:TPU:") for plane in device_planes(forests))


def device_type(forests: Sequence[Forest]) -> str:
    """Name the kind of device, e.g. ``CPU`` or ``Nvidia GPU (Pascal)``."""
    plane = next(device_planes(forests), None)
    if plane is None:
        return "CPU"
    if plane.name.startswith("/device:TPU:"):
        return str(plane.stats.get("device_type_string", "TPU"))
    if plane.stats.get("device_vendor", "Nvidia") == "AMD":
        return "AMD GPU"
    capability = (int(plane.stats.get("compute_cap_major", 0)), int(plane.stats.get("compute_cap_minor", 0)))
    known = [name for lowest, name in _ARCHITECTURES.items() if lowest <= capability]
    return f"Nvidia GPU ({known[-1]})" if known else "Nvidia GPU"
