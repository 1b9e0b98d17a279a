"""The training cells of a notebook over days: how long an example takes, and what changed since the last time."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

import numpy as np
import pandas as pd

from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps.drift import slowdown
from tfprof_nb.formats.watched_cells import Interval, WatchedCell

_OF_A_RUN = (
    "cell",
    "began",
    "seconds",
    "steps",
    "batch",
    "step_ms",
    "example_us",
    "waiting_share",
    "peak_memory_bytes",
    "other_processors",
)
_ALIKE, MOST_COMPARED = 0.8, 50  # runs before
_WORTH_SAYING = 1.25
_MIN_INTERVALS = 24
_BUSY = 0.5  # of a processor, or as much again: other programs take it
_GREW = 0.5  # of what a step became longer


@dataclass
class Slower:
    """How the steps of a run became slower.

    Attributes
    ----------
    since_s
        From when on, since the cell's beginning.
    first_ms, last_ms
        A typical step before and at the end.
    waiting_ms
        By how much waiting for data grew, where that is most of it; else 0.
    other_processors
        How many more processors other programs kept busy at the end; 0 if they did not.
    """

    since_s: float
    first_ms: float
    last_ms: float
    waiting_ms: float = 0.0
    other_processors: float = 0.0


@dataclass
class Changed:
    """What differs between two runs of a cell: pairs of before and after, None or empty where nothing does.

    ``lines`` are those of the text that differ.
    """

    batch: tuple[int, int] | None = None
    versions: dict[str, tuple[str, str]] = field(default_factory=dict)
    lines: list[tuple[str, str]] = field(default_factory=list)
    waiting_ms: tuple[float, float] | None = None
    other_processors: tuple[float, float] | None = None


@dataclass(eq=False)
class History(Result):
    """The runs of training cells.

    Attributes
    ----------
    timelines
        Of each run, by its number: ``ended_s steps step_ms waiting_ms memory_bytes other_processors``.
    changed
        What differs between a run and the one that it is compared with, where it is much slower or faster.
    slower
        How steps became slower within a run, where they did.
    """

    timelines: dict[int, pd.DataFrame] = field(default_factory=dict)
    changed: dict[int, Changed] = field(default_factory=dict)
    slower: dict[int, Slower] = field(default_factory=dict)


def history(cells: Sequence[WatchedCell], damaged: int = 0) -> History:
    """Compare each run of a training cell with the newest earlier run of the same cell.

    A cell is the same if its text is, or nearly.

    Returns
    -------
    History
        The index of its table, ``run``, counts the runs. Columns are ``cell began seconds steps batch step_ms
        example_us waiting_share peak_memory_bytes other_processors compared_to times_as_long``. ``step_ms`` is a
        typical step; ``example_us`` is missing where the batch is unknown, ``waiting_share`` where waiting is.
        ``times_as_long`` is the time per example, or per step, beside that of run ``compared_to``. The summary has
        ``runs``, ``cells`` and ``newest``, a run.
    """
    timelines = {
        run: pd.DataFrame(cell.intervals, columns=list(Interval._fields)).astype(float)
        for run, cell in enumerate(cells)
    }
    compared = [earlier(cells, run) for run in range(len(cells))]
    rows = [_row(cell, timelines[run]) for run, cell in enumerate(cells)]
    table = pd.DataFrame(rows, columns=_OF_A_RUN).rename_axis("run")
    table["compared_to"] = pd.array(compared, dtype="Int64")
    table["times_as_long"] = [
        np.nan if before is None else _times_as_long(table, run, before) for run, before in enumerate(compared)
    ]
    found = History(table, _summary(cells, compared), timelines=timelines)
    for run, before in enumerate(compared):
        if before is not None and _differ(table["times_as_long"][run], cells, timelines, before, run):
            found.changed[run] = _changed(cells[before], cells[run], timelines[before], timelines[run])
        if slower := _slower(timelines[run]):
            found.slower[run] = slower
    if damaged:
        found.notes.append(f"{damaged} {'line' if damaged == 1 else 'lines'} of the history can't be read.")
    return found


def _summary(cells: Sequence[WatchedCell], compared: Sequence[int | None]) -> dict[str, int | None]:
    return {
        "runs": len(cells),
        "cells": sum(before is None for before in compared),
        "newest": len(cells) - 1 if cells else None,
    }


def _row(cell: WatchedCell, timeline: pd.DataFrame) -> list[object]:
    step_ms, waiting_ms = _typical(timeline, "step_ms"), _typical(timeline, "waiting_ms")
    others = timeline["other_processors"]
    return [
        cell.cell,
        datetime.fromtimestamp(cell.began).astimezone(),
        cell.seconds,
        int(timeline["steps"].sum()),
        cell.batch or pd.NA,
        step_ms,
        1e3 * step_ms / cell.batch if cell.batch else np.nan,
        min(1.0, waiting_ms / step_ms) if cell.tells_waits and step_ms else np.nan,
        timeline["memory_bytes"].max(),
        others.mean() if others.notna().any() else np.nan,
    ]


def _typical(timeline: pd.DataFrame, column: str) -> float:
    """Return the median over steps; each interval has one value for all of its steps."""
    known = timeline[timeline["step_ms"] > 0].sort_values(column)
    if known.empty:
        return float("nan")
    counts = known["steps"].cumsum().to_numpy()
    return float(known[column].to_numpy()[np.searchsorted(counts, counts[-1] / 2)])


def earlier(cells: Sequence[WatchedCell], run: int) -> int | None:
    """Return the newest earlier run of the same cell: with the same text, else with nearly the same."""
    candidates = range(run - 1, max(-1, run - 1 - MOST_COMPARED), -1)
    text = cells[run].text
    for before in candidates:
        if cells[before].text == text:
            return before
    return next((before for before in candidates if _are_alike(cells[before].text, text)), None)


@lru_cache(4096)
def _are_alike(one: str, other: str) -> bool:
    alike = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return alike.real_quick_ratio() >= _ALIKE and alike.quick_ratio() >= _ALIKE and alike.ratio() >= _ALIKE


def _times_as_long(table: pd.DataFrame, run: int, before: int) -> float:
    both = table.loc[[before, run]]
    then, now = both["example_us" if both["example_us"].notna().all() else "step_ms"].to_numpy(np.float64)
    return float(now / then) if then else float("nan")


def _differ(
    ratio: float, cells: Sequence[WatchedCell], timelines: dict[int, pd.DataFrame], before: int, run: int
) -> bool:
    """Whether one run is much slower than another, and more than intervals of one run differ."""
    if not (ratio >= _WORTH_SAYING or ratio <= 1 / _WORTH_SAYING):
        return False
    known = bool(cells[before].batch and cells[run].batch)
    then, now = (
        timelines[one].loc[timelines[one]["step_ms"] > 0, "step_ms"] / (cells[one].batch if known else 1)
        for one in (before, run)
    )
    slow, fast = (now, then) if ratio > 1 else (then, now)
    return bool(slow.quantile(0.25) > fast.quantile(0.75))


def _changed(before: WatchedCell, now: WatchedCell, then: pd.DataFrame, timeline: pd.DataFrame) -> Changed:
    found = Changed()
    if before.batch and now.batch and before.batch != now.batch:
        found.batch = before.batch, now.batch
    found.versions = {
        name: (before.versions[name], version)
        for name, version in now.versions.items()
        if before.versions.get(name, version) != version
    }
    old, new = before.text.splitlines(), now.text.splitlines()
    for kind, begin, end, new_begin, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            found.lines.append(("\n".join(old[begin:end]).strip(), "\n".join(new[new_begin:new_end]).strip()))
    waits = _typical(then, "waiting_ms"), _typical(timeline, "waiting_ms")
    steps = _typical(then, "step_ms"), _typical(timeline, "step_ms")
    if before.tells_waits and now.tells_waits and abs(waits[1] - waits[0]) > _GREW * abs(steps[1] - steps[0]) > 0:
        found.waiting_ms = waits
    others = then["other_processors"].mean(), timeline["other_processors"].mean()
    if abs(others[1] - others[0]) >= _BUSY:
        found.other_processors = others
    return found


def _slower(timeline: pd.DataFrame) -> Slower | None:
    known = timeline[timeline["step_ms"] > 0].reset_index(drop=True)
    grown = slowdown(known["step_ms"].to_numpy()) if len(known) >= _MIN_INTERVALS else None
    if grown is None:
        return None
    first, last = known.loc[grown.first], known.loc[grown.last]
    waiting = float(last["waiting_ms"].median() - first["waiting_ms"].median())
    others = float(last["other_processors"].median() - first["other_processors"].median())
    return Slower(
        since_s=float(known["ended_s"].get(grown.since - 1, 0.0)),
        first_ms=grown.first_ms,
        last_ms=grown.last_ms,
        waiting_ms=waiting if waiting > _GREW * (grown.last_ms - grown.first_ms) else 0.0,
        other_processors=others if others >= _BUSY else 0.0,
    )
