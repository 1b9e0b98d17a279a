"""Hosts side by side: which is the slowest, and in which kind of work."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.pods import Pods
from tfprof_nb.render.panels import Column, HeatMap, Note, Panel, Series, StackedBars, Tab, Table, Tabs
from tfprof_nb.render.svg.heat_map import MAX_ROWS
from tfprof_nb.render.theme import VERMILLION
from tfprof_nb.views.categories import STEP_CATEGORIES, STEP_LABELS

# Hosts that differ by less are no slower: steps vary as much.
_SAME_PERCENT = 5.0
_TIMES = (
    Column("step_ms", "step time", "ms", bar=True),
    *(Column(key, label, "ms") for key, label in STEP_LABELS.items()),
    Column("bottleneck", "largest part"),
)
_HOST_COLUMNS = (Column("host", "host"), Column("steps", "steps", "count", meaning="steps in the averages"), *_TIMES)
_STEP_COLUMNS = (
    Column("step", "step", "count", meaning="the same step on every host"),
    Column("host", "host"),
    Column("step_name", "name on the host"),
    *_TIMES,
)


def panels(pods: Pods) -> list[Panel]:
    """Say which host is the slowest, and show each host's average step, and every step."""
    notes = [Note(note, "info" if len(pods.hosts) else "empty") for note in pods.notes]
    if not len(pods.hosts):
        return list(notes)
    several = pods.summary["host_count"] > 1
    return [
        *([Note(headline(pods), "answer")] if several else notes),
        _by_step(pods),
        *_heat_map(pods),
        *([_table("Steps", pods.table.reset_index(), _STEP_COLUMNS)] if len(pods.table) else []),
        *(notes if several else []),
    ]


def headline(pods: Pods) -> str:
    """Put the slowest of several hosts into a sentence."""
    numbers = pods.summary
    if len(pods.hosts) == 1:
        return f"Only {numbers['slowest_host']} shows steps."
    percent = _units.percent(numbers["slower_percent"])
    if numbers["slower_percent"] < _SAME_PERCENT:
        if 100 * numbers["uneven_in_ms"] >= _SAME_PERCENT * pods.hosts["step_ms"].mean():
            more, label = _units.milliseconds(numbers["uneven_in_ms"]), STEP_LABELS[numbers["uneven_in"]]
            return (
                f"The hosts' steps take equally long, but {numbers['uneven_host']} spends {more} more of each on "
                f"{label} than the others: if hosts exchange gradients in every step, the others wait for it."
            )
        return (
            f"No host delays the others: the slowest, {numbers['slowest_host']}, takes {percent} longer than they do."
        )
    more, label = _units.milliseconds(numbers["slower_in_ms"]), STEP_LABELS[numbers["slower_in"]]
    return (
        f"{numbers['slowest_host']} is the slowest host: its steps take {percent} longer than the others' "
        f"on average, with {more} more of {label}."
    )


def _heat_map(pods: Pods) -> list[HeatMap]:
    """Draw every step of every host, the slowest host first; nothing for one host or one step."""
    times = pods.table.pivot_table("step_ms", "host", "step", sort=False)
    if min(times.shape) < 2:
        return []
    times = times.loc[times.mean(axis=1).sort_values(ascending=False, kind="stable").index]
    values = times.to_numpy(np.float64)
    title = "Step time of each host, the slowest first"
    if len(values) > MAX_ROWS:
        title += f": {MAX_ROWS} of {_units.count(len(values))} hosts"
    hosts, steps = times.index.astype(str).tolist(), [int(step) for step in times.columns]
    return [HeatMap(title, values, hosts, steps, "host", "step", VERMILLION)]


def _by_step(pods: Pods) -> Tabs:
    """Return a slider over the steps, which begins with the average step."""
    average = Tab("average step", partial(_hosts, "average step", pods.hosts))
    places: dict[Any, Any] = dict(pods.table.groupby(level="step").indices) if len(pods.table) else {}
    steps = [Tab(f"step {step}", partial(_step, pods, step, rows)) for step, rows in places.items()]
    return Tabs([average, *steps], "slider", "show", shown=1)


def _step(pods: Pods, step: int, rows: Int64) -> list[Panel]:
    """Show one step, the ``rows`` of the table."""
    return _hosts(f"step {step}", pods.table.iloc[rows].reset_index())


def _hosts(what: str, rows: pd.DataFrame) -> list[Panel]:
    """Show one bar per host, and its numbers."""
    spent = [column for column in STEP_CATEGORIES if rows[column].any()]
    unit, symbol, per_ms = _units.axis_unit(float(rows[spent].sum(axis=1).mean()))
    series = [
        Series(STEP_CATEGORIES[column].label, per_ms * rows[column].to_numpy(np.float64), STEP_CATEGORIES[column].color)
        for column in spent
    ]
    x, names = np.arange(len(rows), dtype=np.float64), rows["host"].astype(str).tolist()
    columns = [column for column in _HOST_COLUMNS if column.key in rows.columns]
    return [
        StackedBars(f"The hosts' {what}", x, series, "host", f"step time ({symbol})", names=names, unit=unit),
        _table(f"Each host's {what}", rows, columns),
    ]


def _table(title: str, frame: pd.DataFrame, columns: Sequence[Column]) -> Table:
    """Return a table without the categories in which no step spent any time."""
    shown = [column for column in columns if column.key not in STEP_CATEGORIES or frame[column.key].any()]
    return Table(title, frame.assign(bottleneck=frame["bottleneck"].map(STEP_LABELS)), shown)
