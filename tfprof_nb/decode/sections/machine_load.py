"""Parse the section ``machine_load``: how busy other programs kept the processors."""

from typing import TypeGuard

from tfprof_nb.formats.sidecar import MachineLoadSection

_MIN_S = 0.1  # the time of processors is counted in units of 10 ms


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
