"""Memory: each allocator's peak, its use over time, and what was alive at the peak."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb._arrays import Floats
from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.analysis.memory.memory import BEFORE_CAPTURE, Memory
from tfprof_nb.render.panels import Column, Figure, KeyFigures, Lines, Note, Panel, Series, Tab, Table, Tabs
from tfprof_nb.render.thinning import thin_rows
from tfprof_nb.views.categories import MEMORY_FRAGMENTATION, MEMORY_FREE, MEMORY_HEAP, MEMORY_STACK, OTHER
from tfprof_nb.views.columns import OP, op_column

_ALLOCATORS = {"mklcpu": "CPU memory for tensors"}
_FIGURES = (
    ("peak_bytes", "peak", _units.size, "the most in use during the capture, heap and stack together"),
    ("peak_time_ms", "peak at", _units.milliseconds, "from the start of the capture"),
    ("stack_bytes", "of it stack", _units.size, "reserved for the program as a whole; the rest is heap"),
    ("capacity_bytes", "capacity", _units.size, "in use and free together"),
    ("fragmentation", "fragmentation", _units.share, "share of the free memory that is not in its largest piece"),
    (
        "peak_bytes_lifetime",
        "highest since the program began",
        _units.size,
        "also before the capture, or between recorded steps",
    ),
)
_AT_PEAK = (
    op_column(meaning="the op that requested the memory"),
    Column("allocation_bytes", "allocated", "bytes", bar=True),
    Column("requested_bytes", "requested", "bytes"),
    Column("occurrences", "count", "count", meaning="how many equal allocations the row stands for"),
    Column("region_type", "region", meaning="what it was for: an op's output, its temporary memory, a variable"),
    Column("data_type", "data type"),
    Column("shape", "shape", "code"),
)
_EVENTS = (
    Column("time_ms", "time", "ms"),
    Column("event", "event"),
    Column("memory_in_use_bytes", "in use", "bytes", bar=True, meaning="heap and stack after the event"),
    Column("allocation_bytes", "allocated", "bytes", meaning="negative for deallocations"),
    Column("requested_bytes", "requested", "bytes"),
    *(column for column in _AT_PEAK if column.key == OP),
    Column("step", "step", "count"),
    *(column for column in _AT_PEAK if column.key in ("region_type", "data_type", "shape")),
)
_LAYERS = (
    ("heap", "heap_bytes", MEMORY_HEAP),
    ("stack", "stack_bytes", MEMORY_STACK),
    ("free", "free_bytes", MEMORY_FREE),
)
_VISIBLE = 0.1  # of the allocator's memory
_MAX_EVENTS = 5000  # as many rows as a report holds
_IN_SECONDS_MS = 2000
_SCALES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "bytes"))


def panels(memory: Memory, process_bytes: float = 0.0) -> list[Panel]:
    """Show one allocator, or a menu of several, the highest peak first; ``process_bytes`` is the process' peak."""
    if not len(memory.allocators):
        return [Note(note, "empty") for note in memory.notes]
    peaks = memory.allocators["peak_bytes"].sort_values(ascending=False, kind="stable")
    pages = [
        Tab(f"{_plain(str(name))}, peak {_units.size(peak)}", partial(_allocator, memory, str(name), process_bytes))
        for name, peak in peaks.items()
    ]
    shown = [Tabs(pages, "menu", "allocator", shown=1)] if len(pages) > 1 else pages[0].panels()
    return [*shown, *(Note(note, "info") for note in memory.notes)]


def _plain(name: str) -> str:
    """Name an allocator in plain words, if TensorFlow's name says little."""
    return f"{_ALLOCATORS[name]} ({name})" if name in _ALLOCATORS else name


def _allocator(memory: Memory, name: str, process_bytes: float) -> list[Panel]:
    timeline = memory.timeline_of(name)
    points = thin_rows(timeline, "memory_in_use_bytes").reset_index(drop=True)
    events = thin_rows(timeline, "memory_in_use_bytes", _MAX_EVENTS).reset_index(drop=True)
    live = memory.table[memory.table["allocator"] == name]
    figures = _figures(memory.summary[name])
    if points["allocation_bytes"].isna().all():
        return [KeyFigures(figures), _sampled(name, points)]
    if process_bytes > 0:
        about = "with Python, TensorFlow and what is not a tensor"
        figures.append(Figure("peak of the whole process", _units.size(process_bytes), about))
    alive = Table("", _described(live), _AT_PEAK, selects=OP)
    every = Table("", _described(events.assign(step=_steps(events))), _EVENTS, rows=5, selects=OP, kept_in="timeline")
    return [
        Note(_headline(name, memory.summary[name], live), "answer"),
        KeyFigures(figures),
        Tabs(_charts(name, points), shown=1),
        Tabs([Tab("alive at the peak", lambda: [alive]), Tab(_title_of(events, timeline), lambda: [every])], shown=1),
    ]


def _headline(name: str, numbers: dict[str, Any], live: pd.DataFrame) -> str:
    """Say how much was in use at the peak, and what the largest part of it was."""
    allocator = _units.shorten(" ".join(_plain(name).split()), 60)  # a name may hold ends of lines
    peak = f"{allocator} peaks at {_units.size(numbers['peak_bytes'])}."
    for largest in live.nlargest(1, "allocation_bytes").to_dict("records"):
        size, op = _units.size(largest["allocation_bytes"]), without_calls(" ".join(str(largest["op_name"]).split()))
        if op == BEFORE_CAPTURE:
            return f"{peak} {size} of it was allocated before the capture, mostly the model's weights."
        if op:
            return f"{peak} The largest part, {size}, belongs to `{_units.shorten(op, 80)}`."
    return peak


def _title_of(shown: pd.DataFrame, timeline: pd.DataFrame) -> str:
    """Name the table of events, with how many are shown unless all are."""
    if len(shown) == len(timeline):
        return "every allocation"
    return f"allocations: {_units.count(len(shown))} of {_units.count(len(timeline))}, the highest of each stretch"


def _described(rows: pd.DataFrame) -> pd.DataFrame:
    """Mark unknown texts as missing."""
    texts = rows[["op_name", "region_type", "data_type", "shape"]].astype(object)
    return rows.assign(**texts.replace(["", "unknown", "INVALID"], _units.MISSING))


def _steps(points: pd.DataFrame) -> pd.Series[float]:
    return points["step"].where(points["step"] >= 0).astype(np.float64)


def _figures(numbers: dict[str, Any]) -> list[Figure]:
    figures = [
        Figure(label, write(numbers[key]), meaning)
        for key, label, write, meaning in _FIGURES
        if numbers[key] is not None and not _says_nothing(key, numbers)
    ]
    if numbers["allocations"] is None:
        return figures
    counts = f"{_units.count(numbers['allocations'])} / {_units.count(numbers['deallocations'])}"
    return [*figures, Figure("allocations / deallocations", counts, "during the capture")]


def _says_nothing(key: str, numbers: dict[str, Any]) -> bool:
    """Whether a figure only repeats the peak: nothing is stack, or nothing was higher before."""
    return (key == "stack_bytes" and not numbers[key]) or (
        key == "peak_bytes_lifetime" and numbers[key] <= numbers["peak_bytes"]
    )


def _charts(name: str, points: pd.DataFrame) -> list[Tab]:
    """Return the charts of an allocator: with its free memory first, unless that dwarfs what is in use."""
    short = _units.shorten(_plain(name), 60)
    in_use = Tab("in use", lambda: [_stacked(f"Memory in use: {short}", points, 2)])
    if not points["free_bytes"].any():
        return [in_use]
    both = Tab("in use and free", lambda: [_stacked(f"Memory in use and free: {short}", points, 3)])
    most = points[["memory_in_use_bytes", "free_bytes"]].sum(axis=1).max()
    return [both, in_use] if points["memory_in_use_bytes"].max() >= _VISIBLE * most else [in_use, both]


def _stacked(title: str, points: pd.DataFrame, layers: int) -> Lines:
    drawn = [layer for layer in _LAYERS[:layers] if points[layer[1]].any()] or _LAYERS[:1]
    scale, unit = _scale(points[[column for _, column, _ in drawn]].sum(axis=1).max())
    series = [Series(label, points[column].to_numpy(np.float64) / scale, color) for label, column, color in drawn]
    # Over what is in use alone, the line of fragmentation, which is about free memory, would hide it.
    notes, percent = _tooltips(points), _fragmentation(points) if layers == len(_LAYERS) else None
    return Lines(title, *_times(points, series), unit, stacked=True, held=True, notes=notes, percent=percent)


def _fragmentation(points: pd.DataFrame) -> Series | None:
    """Return the share of the free memory that is not in its largest piece, if that was ever more than nothing."""
    percent = 100 * points["fragmentation"].to_numpy(np.float64)
    meaning = "share of the free memory that is not in its largest piece"
    return Series("fragmentation (%)", percent, MEMORY_FRAGMENTATION, meaning) if percent.any() else None


def _tooltips(points: pd.DataFrame) -> list[str]:
    """Describe each event for a pointer: everything that is known of it."""
    return [_tooltip(row) for row in _described(points).to_dict("records")]


def _tooltip(row: dict[Any, Any]) -> str:
    size = {name: _units.size(row[f"{name}_bytes"]) for name in ("requested", "allocation", "memory_in_use")}
    parts = [
        f"{row['event']} of {size['allocation']}, {size['requested']} requested",
        f"{size['memory_in_use']} in use",
        f"op {_units.shorten(row['op_name'], 80)}",
        f"step {_units.count(row['step'])}" if row["step"] >= 0 else _units.MISSING,
        f"region {row['region_type']}",
        f"type {row['data_type']}",
        f"shape {row['shape']}",
    ]
    return " · ".join(part for part in parts if not part.endswith(_units.MISSING))


def _sampled(name: str, points: pd.DataFrame) -> Lines:
    scale, unit = _scale(points["memory_in_use_bytes"].max())
    series = Series("memory of the process", points["memory_in_use_bytes"].to_numpy(np.float64) / scale, OTHER)
    return Lines(f"Memory: {_units.shorten(name, 60)}", *_times(points, [series]), unit)


def _times(points: pd.DataFrame, series: list[Series]) -> tuple[Floats, list[Series], str]:
    """Return the times of the points, in seconds from two on, with what is drawn over them, and the axis' label."""
    ms = points["time_ms"].to_numpy(np.float64)
    return (ms / 1000, series, "time (s)") if ms.max(initial=0) >= _IN_SECONDS_MS else (ms, series, "time (ms)")


def _scale(highest: float) -> tuple[int, str]:
    """Return the bytes and the name of the largest unit that is not above the highest value."""
    return next((scale for scale in _SCALES if highest >= scale[0]), _SCALES[-1])
