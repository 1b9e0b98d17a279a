"""The training cells of a notebook over days: the newest run beside the one before, its time, and all runs."""

from datetime import datetime, timedelta

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.watched_cells import Changed, History, Slower
from tfprof_nb.render import theme
from tfprof_nb.render.panels import Column, Lines, Note, Panel, Series, Table
from tfprof_nb.views.categories import INPUT
from tfprof_nb.views.columns import time_unit

_COLUMNS = (
    Column("run", "run", "count"),
    Column("cell", "cell", "code"),
    Column("began", "began"),
    Column("seconds", "took", "number", meaning="the whole cell, in seconds"),
    Column("steps", "steps", "count"),
    Column("step_ms", "step", "ms", bar=True, meaning="a typical step, with its wait for data"),
    Column("batch", "batch", "count", meaning="examples in a step"),
    Column("example_us", "per example", "us"),
    Column("waiting_share", "waiting", "share", meaning="for data, of a step"),
    Column("peak_memory_bytes", "memory", "bytes", meaning="the most that the process held"),
    Column("other_processors", "other programs", "number", meaning="how many processors they kept busy"),
    Column("times_as_long", "times as long", "number", meaning="per example, beside the same cell's run before"),
)
_NONE = "No cell has trained since tp.watch() was called here. The next that does is the first of this history."
_A_WEEK, _MAX_LINES, _MAX_CODE, _MINUTES_FROM_S = timedelta(days=6), 2, 60, 120
_SLOWER = 1.0


def panels(history: History) -> list[Panel]:
    """Show what the newest run is like, its time, and all runs."""
    run = history.summary["newest"]
    if run is None:
        return [Note(_NONE, "empty"), *map(Note, history.notes)]
    table = history.table.reset_index()
    table["began"] = [f"{began:%a %d %b %H:%M}" for began in table["began"]]
    return [
        Note(" ".join(sentences(history, run)) or _as_before(history, run), "answer"),
        *_timeline(history, run),
        Table("Training cells", table[::-1], _COLUMNS),
        *map(Note, history.notes),
    ]


def sentences(history: History, run: int) -> list[str]:
    """Say how a run differs from the one before, and whether its steps became slower; nothing where it does not."""
    cell = history.table["cell"][run]
    told = [_compared(history, run, changed) for changed in [history.changed.get(run)] if changed]
    slower = history.slower.get(run)
    return told + ([_slower(slower, "Its steps" if told else f"Steps of {cell}")] if slower else [])


def _as_before(history: History, run: int) -> str:
    cell, steps, step_ms, ratio = (history.table[name][run] for name in ("cell", "steps", "step_ms", "times_as_long"))
    typical = f"{cell}: {_units.count(steps)} steps, typically {_units.milliseconds(step_ms)} each"
    if np.isnan(ratio):
        return f"{typical}. It is the first run of this cell here."
    return f"{typical}, about as long as {_when(history, run)}."


def _compared(history: History, run: int, changed: Changed) -> str:
    table, before = history.table, history.table["compared_to"][run]
    ratio = float(table["times_as_long"][run])
    per_example = not table.loc[[run, before], "example_us"].isna().any()
    of, show = ("example_us", _units.microseconds) if per_example else ("step_ms", _units.milliseconds)
    now, then = (show(table[of][one]) for one in (run, before))
    per = " per example" if per_example else " per step"
    how = f"takes {ratio:.1f} times as long{per} as" if ratio > _SLOWER else f"is {1 / ratio:.1f} times as fast{per} as"
    return f"{table['cell'][run]} {how} {_when(history, run)}: {now}, {then} then. {_what_changed(changed)}"


def _what_changed(changed: Changed) -> str:
    told = [f"the batch, {changed.batch[0]} to {changed.batch[1]}"] if changed.batch else []
    told += [f"{name}, {old} to {new}" for name, (old, new) in changed.versions.items()]
    told += [_line(old, new) for old, new in changed.lines[:_MAX_LINES]]
    if (more := len(changed.lines) - _MAX_LINES) > 0:
        told.append(f"{more} more {'place' if more == 1 else 'places'} in the cell")
    if changed.waiting_ms:
        old, new = map(_units.milliseconds, changed.waiting_ms)
        told.append(f"the wait for data, {old} to {new} a step")
    if changed.other_processors:
        old, new = (f"{max(0.0, one):.1f}" for one in changed.other_processors)
        told.append(f"other programs, which keep {new} processors busy ({old} then)")
    return f"What changed: {'; '.join(told)}." if told else "The cell's text, its batch and the versions are the same."


def _line(old: str, new: str) -> str:
    texts = [f"`{_units.shorten(one.splitlines()[0], _MAX_CODE)}`" if one else "" for one in (old, new)]
    if all(texts):
        return " to ".join(texts)
    return f"{texts[1]} is new" if new else f"{texts[0]} is gone"


def _slower(slower: Slower, whose: str) -> str:
    first, last = _units.milliseconds(slower.first_ms), _units.milliseconds(slower.last_ms)
    why = ""
    if slower.waiting_ms:
        why = f" Waiting for data grew by {_units.milliseconds(slower.waiting_ms)}."
    elif slower.other_processors:
        why = f" Other programs keep {slower.other_processors:.1f} more processors busy."
    return f"{whose} became slower after {_units.seconds(slower.since_s)}: {first}, then {last}.{why}"


def _when(history: History, run: int) -> str:
    """Say when the run was that a run is compared with."""
    began = history.table["began"]
    now, then = began[run], began[history.table["compared_to"][run]]
    return _day(now, then)


def _day(now: datetime, then: datetime) -> str:
    if now.date() == then.date():
        return f"at {then:%H:%M}"
    return f"on {then:%A}" if now - then < _A_WEEK else f"on {then.day} {then:%B}"


def _timeline(history: History, run: int) -> list[Panel]:
    timeline = history.timelines[run]
    timeline = timeline[timeline["step_ms"] > 0]
    if len(timeline) <= 1:
        return []
    _, unit, factor = time_unit(timeline["step_ms"].max())
    minutes = timeline["ended_s"].max() >= _MINUTES_FROM_S
    waits = not np.isnan(history.table["waiting_share"][run])
    steps = [Series("a typical step", factor * timeline["step_ms"].to_numpy(), theme.BLUE)]
    steps += [Series("waiting for data", factor * timeline["waiting_ms"].to_numpy(), INPUT)] if waits else []
    memory = [Series("memory of the process", timeline["memory_bytes"].to_numpy() / 2**20, theme.TEAL)]
    x, label = timeline["ended_s"].to_numpy() / (60 if minutes else 1), "minutes" if minutes else "seconds"
    return [
        Lines(f"{history.table['cell'][run]}: steps over time", x, steps, label, unit),
        Lines("Memory", x, memory, label, "MiB"),
    ]
