"""Lines: the cell with the time of each line, of the ops that it created, and of the model's layers."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.source.source import SourceLines
from tfprof_nb.render.panels import Column, Link, Note, Panel, Tab, Table, Tabs
from tfprof_nb.views.columns import OP, op_column
from tfprof_nb.views.pages import PAGES

_LINES_IN_MENU = 30
_CODE_IN_MENU = 60
# Shares of the cell's time, and of a line's.
_NEARLY_ALL, _MUCH = 0.8, 0.3
_INDENT = re.compile(r"^\s+")
_OP_TIME = "of the ops that the line created or ran, their gradients included, on all threads and devices together"
_LINE_COLUMNS = (
    Column("line", "line", "count"),
    Column("code", "code", "code"),
    Column("self_ms", "time", "ms", bar=True, meaning="for which the cell was at this line"),
    Column("op_ms", "op time", "ms", bar=True, meaning=_OP_TIME),
    Column("occurrences", "runs", "count", meaning="how often the line ran, or an op of it"),
    Column(
        "called_op_ms", "with calls", "ms", meaning="op time, and that of ops created in functions that the line called"
    ),
)
_OTHER_COLUMNS = (Column("file", "file", "code"), *(column for column in _LINE_COLUMNS if column.key != "self_ms"))
_LAYER_COLUMNS = (
    Column("layer", "layer", "code", path=True),
    Column("kind", "class"),
    Column("op_ms", "op time", "ms", bar=True, meaning="summed over threads and devices"),
    Column("share", "share", "share", meaning="of the op time of the model"),
    Column("forward_ms", "forward", "ms"),
    Column("backward_ms", "backward", "ms"),
)
_OP_COLUMNS = (
    op_column(),
    Column("op_type", "type"),
    Column("op_ms", "time", "ms", bar=True, meaning="in the op itself, on all threads and devices together"),
    Column("occurrences", "runs", "count"),
    Column("phase", "phase"),
    Column("gradient", "gradient", "flag"),
    Column("layer", "layer", "code", path=True),
    Column("side", "runs on"),
    Column("absorbed", "fused with", meaning="ops that ran as one with this: their time is in its own"),
)


def panels(source: SourceLines) -> list[Panel]:
    """Show which line takes most, the cell line by line, layers, each line's ops, and lines of other files."""
    if not source.summary["lines"]:
        return [Note(note, "empty") for note in source.notes]
    is_cell = source.table["file"] == "cell"
    others = "Lines elsewhere" if is_cell.any() else "Lines of code"
    return [
        *_answers(source),
        *_lines("The cell, line by line", source.table[is_cell], _LINE_COLUMNS),
        *([Table("Keras layers", source.by_layer, _LAYER_COLUMNS)] if len(source.layers) else []),
        *_ops(source),
        *_lines(others, source.table[~is_cell], _OTHER_COLUMNS),
        *(Note(note, "info") for note in source.notes),
    ]


def _answers(source: SourceLines) -> list[Panel]:
    slowest, heaviest, layer = (source.summary[name] for name in ("slowest_line", "heaviest_line", "slowest_layer"))
    said: list[tuple[str, list[Link]]] = []
    if slowest:
        text = f"{_where(slowest)} took longest: {_units.milliseconds(slowest['self_ms'])}"
        said.append((f"{text}, {_units.share(slowest['share'])} of the cell's time.", _links(slowest)))
    if heaviest:
        same = slowest and (slowest["file"], slowest["line"]) == (heaviest["file"], heaviest["line"])
        text = (
            f"{'It' if same else _where(heaviest)} has the ops that took most: {_units.milliseconds(heaviest['op_ms'])}"
        )
        share = f"{_units.share(heaviest['share'])} of the time of all ops that belong to a line."
        said.append((f"{text}, {share}", [] if same else _links(heaviest)))
        if slowest and not same and _tells_more(heaviest, slowest):
            said.reverse()
    if layer:
        text = f"The slowest Keras layer is `{layer['layer']}` ({layer['kind']}): {_units.milliseconds(layer['op_ms'])}"
        said.append((f"{text}, {_units.share(layer['share'])} of the model's op time.", []))
    return [Note(text, "info" if number else "answer", links) for number, (text, links) in enumerate(said)]


def _tells_more(heaviest: dict[str, Any], slowest: dict[str, Any]) -> bool:
    """Whether the slowest line is nearly all of the cell (a ``fit``), and the heaviest much of what goes on in it."""
    return bool(slowest["share"] >= _NEARLY_ALL and heaviest["op_ms"] >= _MUCH * slowest["self_ms"])


def _where(line: dict[str, Any]) -> str:
    place = f"Line {line['line']}" if line["file"] == "cell" else f"Line {line['line']} of {line['file']}"
    return f"{place}, `{_units.shorten(line['code'], _CODE_IN_MENU)}`,"


def _links(line: dict[str, Any]) -> list[Link]:
    return [Link("Show in the trace", PAGES["trace"], line["event"])] if line["event"] else []


def _lines(title: str, rows: pd.DataFrame, columns: tuple[Column, ...]) -> list[Panel]:
    indented = rows.assign(code=[_INDENT.sub(_unbreakable, code) for code in rows["code"]])
    told = [column for column in columns if not rows[column.key].isna().all()]
    return [Table(title, indented, told, rows=60, selects="event")] if len(rows) else []


def _unbreakable(indent: re.Match[str]) -> str:
    return "\N{NO-BREAK SPACE}" * len(indent[0].expandtabs(4))


def _ops(source: SourceLines) -> list[Panel]:
    """Show the ops of any one line, the heaviest line first."""
    heavy = source.table[source.table["op_ms"] > 0].nlargest(_LINES_IN_MENU, "op_ms")
    pages = [
        Tab(
            f"{'' if file == 'cell' else f'{file} '}{line}: {_units.shorten(code.strip(), _CODE_IN_MENU)}",
            partial(_of_line, source, line, file),
        )
        for file, line, code in heavy[["file", "line", "code"]].itertuples(index=False)
    ]
    return [Tabs(pages, "menu", "ops of line", shown=1)] if pages else []


def _of_line(source: SourceLines, line: int, file: str) -> list[Panel]:
    ops = source.ops(line, file)
    told = [column for column in _OP_COLUMNS if not ops[column.key].isin(["", False]).all()]
    return [Table(f"Ops of line {line}", ops, told, selects=OP)]
