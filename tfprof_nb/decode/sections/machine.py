"""Parse the sections on what ran where: ``versions``, ``machine_load``, ``metrics`` and ``process_memory``."""

from dataclasses import dataclass, field
from typing import NamedTuple, TypeGuard

import numpy as np

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb.formats.sidecar import MachineLoadSection, SamplesSection, VersionsSection

_MIN_S = 0.1  # the time of processors is counted in units of 10 ms


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


def read_own_cores(section: MachineLoadSection | None) -> tuple[float, int]:
    """Return how many processors the program kept busy on average, and how many it may use; NaN if unknown."""
    if not _is_measured(section):
        return float("nan"), 0
    return float(section["own_s"]) / float(section["seconds"]), int(section["processors"])


def read_other_load(section: MachineLoadSection | None) -> float:
    """Return the share of the processors' time that other programs took, 0 to 1; NaN if that cannot be told."""
    if not _is_measured(section):
        return float("nan")
    whole = float(section["seconds"]) * int(section["processors"])
    others = float(section["busy_s"]) - float(section["own_s"])
    return min(max(others / whole, 0.0), 1.0) if whole > 0 else float("nan")


def _is_measured(section: MachineLoadSection | None) -> TypeGuard[MachineLoadSection]:
    if not section:
        return False
    if min(section["seconds"], section["processors"], section["busy_s"], section["own_s"]) < 0:
        raise ValueError("a time or a number of processors is negative")
    return section["seconds"] >= _MIN_S


class SampledQuantity(NamedTuple):
    """One quantity; ``values`` has a float64 per sample, NaN where it could not be read."""

    metric: str
    unit: str
    values: Floats


@dataclass(frozen=True, eq=False)
class Samples:
    """Quantities that were sampled at the same times.

    Attributes
    ----------
    times_ns
        When, in nanoseconds since 1970, ascending.
    quantities
        What was sampled.
    """

    times_ns: Int64 = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    quantities: tuple[SampledQuantity, ...] = ()


def read_samples(section: SamplesSection | None) -> Samples:
    """Return the samples of a section."""
    if not section:
        return Samples()
    times_ns = np.array(section["times_ns"], dtype=np.int64)
    quantities = tuple(
        SampledQuantity(str(series["metric"]), str(series["unit"]), np.array(series["values"], dtype=np.float64))
        for series in section["series"]
    )
    if times_ns.ndim != 1 or any(quantity.values.shape != times_ns.shape for quantity in quantities):
        raise ValueError("a series does not have one value per time")
    return Samples(times_ns, quantities)
