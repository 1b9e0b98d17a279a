"""Ops: where time goes by operation and by type, on hosts and devices."""

from __future__ import annotations

from tfprof_nb import _units
from tfprof_nb.analysis.ops import Ops
from tfprof_nb.render.panels import Bars, Column, Figure, KeyFigures, Note, Panel, Part, Table
from tfprof_nb.render.theme import DEVICE_COMPUTE, HOST_COMPUTE

_TYPES_SHOWN = 10
_SIDES = {"device": ("on devices", DEVICE_COMPUTE), "host": ("on hosts", HOST_COMPUTE)}
_COLUMNS = (
    Column("op_name", "op", "code", meaning="the op's name in the graph"),
    Column("self_us", "self time", "us", meaning="time in the op itself, without the ops that ran inside it"),
    Column("self_share", "share", "share", bar=True, meaning="of the self time of all ops on the same side"),
    Column("op_type", "type"),
    Column("side", "runs on"),
    Column("occurrences", "runs", "count", meaning="how often the op ran"),
    Column("avg_self_us", "self time per run", "us"),
    Column("total_us", "total time", "us", meaning="from begin to end, ops that ran inside it included"),
    Column("eager", "eager", "flag", meaning="ran op by op, outside a tf.function"),
)


def panels(ops: Ops) -> list[Panel]:
    """Show time by op type, then every op."""
    if not len(ops.table):
        return [Note(note, "empty") for note in ops.notes]
    return [
        KeyFigures(_figures(ops)),
        *(panel for side in _SIDES for panel in _by_type(ops, side)),
        Table("Ops", ops.table, _COLUMNS),
        *(Note(note, "info") for note in ops.notes),
    ]


def _figures(ops: Ops) -> list[Figure]:
    return [
        Figure(f"{side} op self time", _units.microseconds(ops.summary[f"{side}_self_us"]), "summed over all threads")
        for side in _SIDES
        if ops.summary[f"{side}_self_us"] > 0
    ] + [Figure("different ops", _units.count(len(ops.table)))]


def _by_type(ops: Ops, side: str) -> list[Panel]:
    rows = ops.table[ops.table["side"] == side]
    if not len(rows):
        return []
    where, color = _SIDES[side]
    by_type = rows.groupby("op_type")["self_us"].sum().nlargest(_TYPES_SHOWN)
    parts = [Part(str(kind) or "unknown", float(self_us) / 1e3, color) for kind, self_us in by_type.items()]
    return [Bars(f"Self time by op type, {where}", parts, "ms")]
