"""Two profiles side by side: the speedup in words, then a picture, then the largest changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.compare.compare import BETWEEN, Comparison
from tfprof_nb.analysis.compare.mann_whitney import MIN_VALUES
from tfprof_nb.render.panels import Column, Note, Panel, Series, StackedBars, Table
from tfprof_nb.views.categories import STEP_CATEGORIES, STEP_LABELS
from tfprof_nb.views.columns import OP, op_column

# A change of the gap between steps is mentioned from this share of a step on.
_MIN_GAP_CHANGE = 0.05
_LABELS = {
    "step_ms": "step time",
    BETWEEN: "gap to the next step",
    "duration_ms": "whole capture",
    "peak_bytes": "in use",
    "heap_bytes": "heap",
    "stack_bytes": "stack",
    **STEP_LABELS,
}
_CHANCE = Column("p_value", "by chance", "share", meaning="probability of at least such a difference by chance alone")
_ROWS = 10


def panels(compared: Comparison) -> list[Panel]:
    """Show the speedup in words, the step before and after, and the largest changes."""
    return [
        *answer(compared),
        *_bars(compared),
        _parts(compared.table),
        *_ops("Ops that take less time", compared.ops[compared.ops["change"] < 0]),
        *_ops("Ops that take more time", compared.ops[compared.ops["change"] > 0]),
        *_kernels(compared.kernels),
        *_memory(compared.memory),
        *_only("Ran only before", compared.only_before),
        *_only("Ran only after", compared.only_after),
        *(Note(note) for note in compared.notes),
    ]


def answer(compared: Comparison) -> list[Note]:
    """Say first whether the two did the same work, then how they compare."""
    numbers = compared.summary
    text = f"{headline(compared)}{_between(compared.table)}"
    if numbers["same_work"]:
        return [Note(text, "answer")]
    return [Note(f"Not the same work: {'; '.join(numbers['why_not_same'])}.", "answer"), Note(text)]


def headline(compared: Comparison) -> str:
    """Put the speedup into a sentence, and say if there is too little data for one."""
    numbers = compared.summary
    old, new = (_units.milliseconds(numbers[f"{side}_ms"]) for side in ("before", "after"))
    took = f"the {numbers['speedup_of'].replace('training ', '')} took {old}, now {new}"
    times = f"{took} ({_less_or_more(numbers)})"
    if numbers["verdict"] == "no difference":
        return f"No difference that {_counted(numbers)} could show: {took}."
    if numbers["verdict"] == "unsure":
        return f"{_too_few(numbers)}: {times}."
    slower = numbers["verdict"] == "slower"
    factor = 1 / numbers["speedup"] if slower else numbers["speedup"]
    return f"{_units.number(factor)} times {'slower' if slower else 'faster'}: {times}."


def _less_or_more(numbers: dict[str, Any]) -> str:
    old, new = numbers["before_ms"], numbers["after_ms"]
    if not old or old == new:
        return "no change"
    return f"{_units.percent(100 * abs(new - old) / old)} {'less' if new < old else 'more'}"


def _counted(numbers: dict[str, Any]) -> str:
    """Count the steps or captures, once if both sides have as many."""
    unit = "capture" if numbers["speedup_of"] == "capture" else "step"
    counts = dict.fromkeys(_units.count(numbers[f"measured_{side}"]) for side in ("before", "after"))
    return f"{' and '.join(counts)} {unit}{'' if list(counts) == ['1'] else 's'}"


def _too_few(numbers: dict[str, Any]) -> str:
    needed = f"at least {MIN_VALUES} of each are needed"
    if numbers["speedup_of"] == "capture":
        return f"Too few captures to tell a difference from chance ({needed})"
    return f"Too few steps to tell a difference from chance ({_counted(numbers)}; {needed})"


def _between(table: pd.DataFrame) -> str:
    """Say how the gap between steps changed, which no step counts; a loop may fetch its batches there."""
    gaps, step = table[table["metric"] == BETWEEN], table.iloc[0]
    if gaps.empty or abs(gaps["change"].iloc[0]) < _MIN_GAP_CHANGE * step["before"]:
        return ""
    old, new = (_units.milliseconds(gaps[side].iloc[0]) for side in ("before", "after"))
    return f" The gap between steps took {old}, now {new}."


def _bars(compared: Comparison) -> list[Panel]:
    """Draw the step before and after, side by side."""
    rows = compared.typical_step
    if rows.empty:
        return []
    series = [
        Series(category.label, rows.loc[key].to_numpy(np.float64), category.color)
        for key, category in STEP_CATEGORIES.items()
        if key in rows.index
    ]
    title, x = "A typical step by kind of work: the mean of the middle half of the steps", np.arange(2.0)
    return [StackedBars(title, x, series, "", "time (ms)", names=tuple(rows.columns), averaged=False)]


def _parts(table: pd.DataFrame) -> Table:
    """Return a table of the step and its parts, the largest change first."""
    parts = table.iloc[1:].sort_values("change", key=np.abs, ascending=False, kind="stable")
    rows = pd.concat([table.iloc[:1], parts])
    title = "Largest changes, by median" if len(rows) > 1 else "Time"
    columns = [Column("metric", "part"), *_numbers("ms"), *_known(table)]
    return Table(title, rows.assign(metric=rows["metric"].map(_LABELS)), columns)


def _ops(title: str, rows: pd.DataFrame) -> list[Panel]:
    if rows.empty:
        return []
    names = (op_column(meaning="its name after"), Column("op_type", "type"), Column("side", "runs on"))
    return [
        Table(_per(title, rows), rows, [names[0], *_numbers("us"), *_known(rows), *names[1:]], rows=_ROWS, selects=OP)
    ]


def _kernels(rows: pd.DataFrame) -> list[Panel]:
    if rows.empty:
        return []
    columns = [Column("kernel", "kernel", "code"), *_numbers("us"), *_known(rows), op_column()]
    return [Table(_per("GPU kernels with the largest changes", rows), rows, columns, rows=_ROWS, selects=OP)]


def _memory(rows: pd.DataFrame) -> list[Panel]:
    shown = rows[(rows["before"] > 0) | (rows["after"] > 0)].sort_values(["allocator", "metric"])
    if shown.empty:
        return []
    columns = [Column("allocator", "allocator", "code"), Column("metric", "memory"), *_numbers("bytes"), *_known(rows)]
    return [Table("Peak memory", shown.assign(metric=shown["metric"].map(_LABELS)), columns)]


def _only(title: str, rows: pd.DataFrame) -> list[Panel]:
    if rows.empty:
        return []
    columns = [Column("name", "name", "code", path=True), Column("time", "time", "us"), Column("kind", "kind")]
    return [Table(_per(title, rows), rows.sort_values("time", ascending=False), columns, rows=_ROWS)]


def _per(title: str, rows: pd.DataFrame) -> str:
    return f"{title}, per step" if rows["unit"].iloc[0] == "us per step" else f"{title}, in the whole capture"


def _numbers(kind: _units.Kind) -> list[Column]:
    return [
        Column("before", "before", kind),
        Column("after", "after", kind),
        Column("change", "change", kind, meaning="negative: less than before"),
        Column("change_percent", "change", "percent", meaning="relative to before"),
    ]


def _known(rows: pd.DataFrame) -> list[Column]:
    return [_CHANCE] if rows["p_value"].notna().any() else []
