"""Which devices the profiled program used."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.decode import Plane

T = TypeVar("T")

# How the names of accelerators' planes start.
GPU, TPU, MTIA = "/device:GPU:", "/device:TPU:", "/device:MTIA:"

# By compute capability (major, minor).
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
            if plane.name.startswith((GPU, TPU, MTIA)) and "SparseCore" not in plane.name:
                yield plane


def device_cores(forests: Sequence[Forest]) -> int:
    """Return how many accelerators the hosts recorded."""
    return sum(1 for _ in device_planes(forests))


def has_device_events(forest: Forest) -> bool:
    """Whether any event of a host was recorded on a device."""
    return bool(forest.on_device.any())


def has_tpu(forests: Sequence[Forest]) -> bool:
    """Whether any of the hosts recorded a TPU."""
    return any(plane.name.startswith(TPU) for plane in device_planes(forests))


def device_type(forests: Sequence[Forest]) -> str:
    """Name the kind of device, e.g. ``CPU`` or ``Nvidia GPU (Pascal)``."""
    plane = next(device_planes(forests), None)
    if plane is None:
        return "CPU"
    if plane.name.startswith(TPU):
        return str(plane.stats.get("device_type_string", "TPU"))
    if plane.name.startswith(MTIA):
        return "MTIA"
    if plane.stats.get("device_vendor", "Nvidia") == "AMD":
        return "AMD GPU"
    architecture = by_capability(plane, _ARCHITECTURES, "")
    return f"Nvidia GPU ({architecture})" if architecture else "Nvidia GPU"


def by_capability(plane: Plane, table: Mapping[tuple[int, int], T], missing: T) -> T:
    """Look up a GPU's compute capability; one in between is like the next lower one.

    Parameters
    ----------
    table
        Values by capability (major, minor), ascending.
    missing
        The value below the lowest capability.
    """
    capability = (int(plane.number("compute_cap_major")), int(plane.number("compute_cap_minor")))
    known = [value for lowest, value in table.items() if lowest <= capability]
    return known[-1] if known else missing
