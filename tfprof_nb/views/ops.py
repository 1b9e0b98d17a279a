"""Ops: time by op and by op type, on hosts and devices."""

from functools import partial

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.render.panels import Bars, Column, Figure, KeyFigures, Note, Panel, Part, Tab, Table, Tabs, Trim
from tfprof_nb.views.categories import DEVICE_COMPUTE, HOST_COMPUTE, OTHER
from tfprof_nb.views.columns import OP, op_column

_MIN_BARS, _MOST_SHARE = 8, 0.9
_SIDES = {"device": ("on devices", DEVICE_COMPUTE), "host": ("on hosts", HOST_COMPUTE)}
_COLUMNS = (
    op_column(meaning="the op's name in the graph"),
    Column("self_us", "self time", "us", bar=True, meaning="time in the op itself, without the ops inside it"),
    Column("self_share", "share", "share", meaning="of the self time of all ops on the same side"),
    Column("cumulative_share", "cumulative share", "share", meaning="of this op and all above it, on the same side"),
    Column("op_type", "type"),
    Column("side", "runs on"),
    Column("occurrences", "runs", "count", meaning="how often the op ran"),
    Column("avg_self_us", "self time per run", "us"),
    Column("total_us", "total time", "us", meaning="from start to end, including the ops inside it"),
    Column("eager", "eager", "flag", meaning="ran op by op, outside a tf.function"),
)
_RATE_COLUMNS = (
    Column("flops", "float ops", "flops", meaning="floating-point operations of all runs"),
    Column("gflops_per_s", "GFLOP/s", "number", meaning="floating-point operations by self time"),
    Column("bound_by", "bound by", meaning="what limits the op by the device's roofline: compute or memory"),
)


def panels(ops: Ops) -> list[Panel]:
    """Show time by op and by type, on devices and hosts, without idle time or with it; then every op."""
    if not len(ops.table):
        return [Note(note, "empty") for note in ops.notes]
    choices = [Tab("excluded", partial(_shares, ops.table)), Tab("included", lambda: _shares(ops.with_idle()))]
    return [
        KeyFigures(_figures(ops)),
        Tabs(choices, "menu", "idle time", shown=1),
        *(Note(note, "info") for note in ops.notes),
    ]


def _shares(table: pd.DataFrame) -> list[Panel]:
    charts = [chart for side in _SIDES for chart in _largest(table, side)]
    known = [column for column in _RATE_COLUMNS if table[column.key].notna().any()]
    return [*charts, Table("Ops", table, [*_COLUMNS, *known], selects=OP)]


def _figures(ops: Ops) -> list[Figure]:
    return [
        Figure(f"{side} op self time", _units.microseconds(ops.summary[f"{side}_self_us"]), "summed over all threads")
        for side in _SIDES
        if ops.summary[f"{side}_self_us"] > 0
    ] + [Figure("distinct ops", _units.count(len(ops.table)))]


def _largest(table: pd.DataFrame, side: str) -> list[Panel]:
    rows = table[table["side"] == side]
    if not len(rows):
        return []
    where, color = _SIDES[side]
    by_type = largest_bars(f"Self time by op type, {where}", rows, "op_type", color)
    if (rows[OP].astype(str) == rows["op_type"].astype(str)).all():  # ops that run one by one have no other name
        return [by_type]
    by_op = largest_bars(f"Self time by op, {where}", rows, OP, color, trim=without_calls)
    return [Tabs([Tab("by type", lambda: [by_type]), Tab("by op", lambda: [by_op])], shown=2)]


def largest_bars(
    title: str, rows: pd.DataFrame, key: str, color: str, time: str = "self_us", *, trim: Trim = str, most: int = 16
) -> Bars:
    """Sum a time by a column: as many of the largest sums as make 90% of it, at most ``most``, and the others as one.

    Where the others together are more than the largest sum, no bar shows them: the title says what part the bars are.
    """
    sums = rows.groupby(key, observed=True)[time].sum().sort_values(ascending=False)
    whole = float(sums.sum())
    making_most = int((sums.cumsum() < _MOST_SHARE * whole).sum()) + 1
    count = min(max(making_most, _MIN_BARS), most)
    largest, rest = sums.head(count), sums.iloc[count:]
    parts = [Part(str(name) or "unknown", float(total), color) for name, total in largest.items()]
    if len(rest) and rest.sum() > largest.iloc[0]:
        shown = _units.share(float(largest.sum()) / whole)
        return Bars(f"{title}: the {count} largest of {_units.count(len(sums))}, {shown}", parts, "us", trim)
    others = [Part(f"{_units.count(len(rest))} others", float(rest.sum()), OTHER)] if len(rest) else []
    return Bars(title, [*parts, *others], "us", trim)
