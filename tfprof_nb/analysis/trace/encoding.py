"""Slices as compressed columns, in the form that docs/trace-format.md describes."""

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from tfprof_nb.analysis.trace.slices import Slices

GAP_BYTES, DURATION_BYTES, NAME_BYTES = 6, 6, 3
MAX_UNITS = 1 << 8 * min(GAP_BYTES, DURATION_BYTES)  # a trace must be shorter than so many units
EVENT_BYTES, EVENTS_BYTES, BUSY_BYTES = 4, 4, 1


def encode(slices: Slices, unit_ps: int, *, merged: bool, level: int = 1) -> bytes:
    """Return slices as zlib-compressed byte planes.

    Parameters
    ----------
    unit_ps
        The unit of times; starts and ends are rounded down to whole units.
    merged
        Whether to add which events each slice stands for; otherwise slice k is event k.
    level
        zlib's compression level: 1 is fast, 9 is small.
    """
    start, end = slices.start_ps // unit_ps, slices.end_ps // unit_ps
    before = np.roll(end, 1)
    before[slices.bounds[:-1][np.diff(slices.bounds) > 0]] = 0
    length = slices.end_ps - slices.start_ps
    planes = [
        _byte_planes(start - before, GAP_BYTES),
        _byte_planes(end - start, DURATION_BYTES),
        _byte_planes(slices.name, NAME_BYTES),
    ]
    if merged:
        share = np.where(length > 0, slices.busy_ps / np.maximum(length, 1), 1.0)
        planes += [
            _byte_planes(np.diff(slices.event, prepend=0), EVENT_BYTES),
            _byte_planes(slices.events, EVENTS_BYTES),
            _byte_planes(np.ceil(np.clip(share, 0, 1) * 255), BUSY_BYTES),
        ]
    return zlib.compress(b"".join(planes), level)


def _byte_planes(values: npt.NDArray[Any], width: int) -> bytes:
    """Order numbers by byte: the lowest byte of each, then the next, and so on; similar bytes compress well."""
    return values.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width].T.tobytes()
