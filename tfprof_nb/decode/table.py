"""Make hosts of frames in memory, for formats that are read event by event."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb.decode.host import Host, Line, Plane, Stat, StatValue, cut_lengths

Args = Mapping[str, Any]
PlaneStats = Mapping[str, Mapping[str, StatValue]]

COLUMNS = ["plane", "line", "line_id", "name", "display_name", "start_ps", "duration_ps", "args"]
"""The columns of events: texts, int64 and, in ``args``, a mapping of the event's stats."""


def build_host(name: str, events: pd.DataFrame, planes: PlaneStats, **about: Any) -> Host:
    """Make a `Host` of events.

    Parameters
    ----------
    events
        One row per event, with `COLUMNS`. Plane and id identify a line; its first event names it.
    planes
        The stats of every plane, in the order of the host's planes.
    **about
        Other attributes of the host: ``origin_ns``, ``notes`` and so on.
    """
    line = _codes_of_pairs(events["plane"], events["line_id"])
    order = np.lexsort((-events["duration_ps"].to_numpy(np.int64), events["start_ps"].to_numpy(np.int64), line))
    heads = np.flatnonzero(np.diff(np.sort(line), prepend=-1))
    _, first_of_line = np.unique(line, return_index=True)
    lines = [
        (*head, span) for head, span in zip(_headers(events, first_of_line), pairwise([*heads, len(line)]), strict=True)
    ]
    events, line = events.take(order), line[order]
    metadata = _codes_of_pairs(events["name"], events["display_name"])
    _, first_of_name = np.unique(metadata, return_index=True)
    plane_number = {plane: number for number, plane in enumerate(planes)}
    duration_ps = events["duration_ps"].to_numpy(np.int64, copy=True)
    notes = (*about.pop("notes", ()), *cut_lengths(duration_ps))
    return Host(
        name=name,
        planes=tuple(Plane(plane, dict(stats)) for plane, stats in planes.items()),
        lines=tuple(Line(plane_number[plane], number, label, *map(int, span)) for plane, number, label, span in lines),
        line=line.astype(np.int32),
        metadata=metadata.astype(np.int32),
        start_ps=events["start_ps"].to_numpy(np.int64),
        duration_ps=duration_ps,
        names=events["name"].to_numpy(object)[first_of_name],
        display_names=events["display_name"].to_numpy(object)[first_of_name],
        _stats=ArgsStats(events["args"].tolist()),
        notes=notes,
        **about,
    )


class ArgsStats:
    """The stats of events, each given as a mapping or None; see `host.StatSource`.

    JSON formats write some numbers as text: these count as both.
    """

    def __init__(self, args: Sequence[Args | None]) -> None:
        self._args = args

    def ints(self, stat: str) -> Stat:
        """See `Host.ints`."""
        return self._numbers(stat, _whole, np.int64)

    def floats(self, stat: str) -> Stat:
        """See `Host.floats`."""
        return self._numbers(stat, float, np.float64)

    def texts(self, stat: str) -> Stat:
        """See `Host.texts`."""
        rows, values = self._of(stat)
        is_text = np.array([isinstance(value, str) for value in values], dtype=bool)
        codes, categories = pd.factorize(values[is_text])
        return Stat(rows[is_text], codes.astype(np.int32), categories)

    def of_row(self, row: int) -> dict[str, StatValue]:
        """See `Host.stats_of`."""
        return {str(stat): _simple(value) for stat, value in (self._args[row] or {}).items()}

    def names(self) -> list[str]:
        """See `Host.stat_names`."""
        return list(self._columns)

    def _numbers(self, stat: str, parse: Callable[[StatValue], float], dtype: type[np.generic]) -> Stat:
        rows, values = self._of(stat)
        codes, distinct = pd.factorize(values, use_na_sentinel=False)
        parsed = [_parsed(value, parse) for value in distinct]
        known = np.array([value is not None for value in parsed], dtype=bool)[codes]
        numbers = np.array([0 if value is None else value for value in parsed], dtype=dtype)
        return Stat(rows[known], numbers[codes[known]])

    def _of(self, stat: str) -> tuple[Int64, Objects]:
        rows, values = self._columns.get(stat, ([], []))
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return np.array(rows, dtype=np.int64), column

    @cached_property
    def _columns(self) -> dict[str, tuple[list[int], list[StatValue]]]:
        columns: dict[str, tuple[list[int], list[StatValue]]] = {}
        for row, args in enumerate(self._args):
            for stat, value in (args or {}).items():
                rows, values = columns.setdefault(stat, ([], []))
                rows.append(row)
                values.append(_simple(value))
        return columns


def _codes_of_pairs(left: pd.Series[Any], right: pd.Series[Any]) -> Int64:
    """Return a number for the pair in each row, counted in the order of first occurrences."""
    first, _ = pd.factorize(left)
    second, seconds = pd.factorize(right)
    codes: Int64 = pd.factorize(first.astype(np.int64) * max(len(seconds), 1) + second)[0].astype(np.int64)
    return codes


def _headers(events: pd.DataFrame, rows: npt.NDArray[np.intp]) -> list[tuple[str, int, str]]:
    heads = events.iloc[rows]
    return list(zip(heads["plane"], heads["line_id"].astype(int), heads["line"], strict=True))


def _simple(value: Any) -> StatValue:
    return value if isinstance(value, int | float | str | bytes) else json.dumps(value)


def _parsed(value: StatValue, parse: Callable[[StatValue], float]) -> float | None:
    try:
        return parse(value)
    except (ValueError, TypeError, OverflowError):
        return None


def _whole(value: StatValue) -> int:
    """Return a number without its fraction, modulo 2**64, as a signed one."""
    number = value if isinstance(value, int) else _whole_of_text(value)
    return (number + 2**63) % 2**64 - 2**63


def _whole_of_text(value: StatValue) -> int:
    try:
        return int(value)
    except ValueError:
        return int(float(value))
