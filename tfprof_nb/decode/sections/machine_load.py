"""Parse the section ``machine_load``: how busy other programs kept the processors."""

from __future__ import annotations

from tfprof_nb.formats.sidecar import MachineLoadSection


def read_other_load(section: MachineLoadSection | None) -> float:
    """Return the share of the processors' time that other programs took, 0 to 1; NaN if it is unknown."""
    if not section:
        return float("nan")
    whole = float(section["seconds"]) * int(section["processors"])
    others = float(section["busy_s"]) - float(section["own_s"])
    return min(max(others / whole, 0.0), 1.0) if whole > 0 else float("nan")
