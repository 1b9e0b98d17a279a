"""Lines: the notebook cell with the time of each line and of the ops that it created."""

import re
from functools import partial
from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.python import Python
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.source import SourceLines
from tfprof_nb.decode.redaction import HIDDEN_CODE
from tfprof_nb.render.panels import Column, Link, Note, Panel, Tab, Table, Tabs
from tfprof_nb.views.columns import OP, op_column
from tfprof_nb.views.pages import PAGES

_MAX_LINES_IN_MENU = 30
_MAX_CODE_IN_MENU = 60
# Shares of the cell's time, and of the slowest line's.
_NEARLY_ALL, _MUCH, _WORTH_NAMING = 0.8, 0.3, 0.1
_INDENT = re.compile(r"^\s+")
_OP_TIME = "of the ops that the line created or ran, including gradients, on all threads and devices"
_LINE_COLUMNS = (
    Column("line", "line", "count"),
    Column("code", "code", "code"),
    Column("self_ms", "time", "ms", bar=True, meaning="that the cell spent at this line"),
    Column("op_ms", "op time", "ms", bar=True, meaning=_OP_TIME),
    Column("occurrences", "runs", "count", meaning="of the line, or of its ops"),
    Column("called_op_ms", "with calls", "ms", meaning="op time, including that of functions that the line called"),
)
_LINE, _CODE, _, _OP, *_OTHERS = _LINE_COLUMNS
_OTHER_COLUMNS = (Column("file", "file", "code"), _LINE, _OP, _CODE, *_OTHERS)
_FUNCTION_COLUMNS = (
    Column("function", "function", "code"),
    Column("file", "file", "code", path=True),
    Column("line", "line", "count"),
    Column("self_ms", "time", "ms", bar=True, meaning="the line was the innermost of your code, or in a library"),
    Column("library", "mostly in", meaning="the package that the line called"),
    Column("total_ms", "with calls", "ms", meaning="the line was on the stack"),
)
_PLAIN = "No op of TensorFlow ran in this cell, so there are no steps: the lines of Python are all there is to show."
_OP_COLUMNS = (
    op_column(),
    Column("op_ms", "time", "ms", bar=True, meaning="in the op itself, on all threads and devices"),
    Column("occurrences", "runs", "count"),
    Column("op_type", "type"),
    Column("phase", "phase"),
    Column("gradient", "gradient", "flag"),
    Column("layer", "layer", "code", path=True),
    Column("side", "runs on"),
    Column("absorbed", "fused with", meaning="ops that ran fused into this one, whose time includes theirs"),
)


def panels(source: SourceLines, python: Python) -> list[Panel]:
    """Show the slowest line, the cell line by line, lines in functions, each line's ops, other lines."""
    if not source.summary["lines"]:
        return [Note(note, "empty") for note in source.notes]
    is_cell = source.table["file"] == "cell"
    others = "Lines of other cells and files" if is_cell.any() else "Lines of code"
    return [
        *_answers(source, python),
        *_lines("The cell, line by line", source.table[is_cell], _LINE_COLUMNS),
        *_in_functions(source, python),
        *_ops(source),
        *_lines(others, source.table[~is_cell], _OTHER_COLUMNS),
        *(Note(note, "info") for note in source.notes),
    ]


def plain(source: SourceLines, python: Python) -> list[Panel]:
    """Show a cell that ran nothing of TensorFlow, line by line."""
    return [
        *_lines("The cell, line by line", source.table[source.table["file"] == "cell"], _LINE_COLUMNS),
        *_in_functions(source, python),
        Note(_PLAIN, "info"),
        *(Note(note, "info") for note in source.notes),
    ]


def _inside(line: dict[str, Any], python: Python) -> str:
    """Name the slowest line of a function, if a line that calls it is nearly all of the cell; else return no text."""
    rows = _of_functions(python)
    if line["share"] < _NEARLY_ALL or rows.empty or rows["self_ms"].iloc[0] < _WORTH_NAMING * line["self_ms"]:
        return ""
    row = rows.iloc[0]
    where = f"`{row['function']}` ({place_of(row['file'], row['line'])})"
    time = f"{_units.milliseconds(row['self_ms'])}, {_units.share(min(1.0, row['self_ms'] / line['self_ms']))} of it"
    library = f", in {row['library']}" if row["library"] else ""
    return f" In the functions that it calls, {where} took longest: {time}{library} (sampled)."


def _of_functions(python: Python) -> pd.DataFrame:
    """Return the lines of the user's own functions that the main thread ran, by the samples of Python."""
    rows = python.table
    return rows[(rows["thread"] == "main") & (rows["line"] > 0) & (rows["function"] != "<module>")]


def _in_functions(source: SourceLines, python: Python) -> list[Panel]:
    rows = _of_functions(python)
    called = bool(source.summary["slowest_line"]) and len(rows) > 0
    return (
        [Table("Lines in functions that the cell calls, sampled", rows, _FUNCTION_COLUMNS, rows=20)] if called else []
    )


def _answers(source: SourceLines, python: Python) -> list[Note]:
    slowest, heaviest = (source.summary[name] for name in ("slowest_line", "heaviest_line"))
    answers: list[tuple[str, list[Link]]] = []
    if slowest:
        text = f"{_where(slowest)} took longest: {_units.milliseconds(slowest['self_ms'])}"
        share = f"{_units.share(slowest['share'])} of the time of all lines."
        answers.append((f"{text}, {share}{_inside(slowest, python)}", _links(slowest)))
    if heaviest and not _is_same_code(slowest, heaviest):
        same = slowest and (slowest["file"], slowest["line"]) == (heaviest["file"], heaviest["line"])
        text = f"{'It' if same else _where(heaviest)} has the most op time: {_units.milliseconds(heaviest['op_ms'])}"
        of_all = f"{_units.share(heaviest['share'])} of the op time of all lines."
        answers.append((f"{text}, {of_all}", [] if same else _links(heaviest)))
        if slowest and not same and _explains(heaviest, slowest):
            answers.reverse()
    return [Note(text, "info" if number else "answer", links) for number, (text, links) in enumerate(answers)]


def _is_same_code(slowest: dict[str, Any], heaviest: dict[str, Any]) -> bool:
    """Return whether the heaviest line is the slowest one in an earlier cell, which built the graph that this ran."""
    if not slowest or (slowest["file"], slowest["line"]) == (heaviest["file"], heaviest["line"]):
        return False
    code = slowest["code"].strip()
    return code not in ("", HIDDEN_CODE) and code == heaviest["code"].strip()


def _explains(heaviest: dict[str, Any], slowest: dict[str, Any]) -> bool:
    """Return whether one line is nearly all of the cell, such as a ``fit``, and the heaviest line much of that."""
    return bool(slowest["share"] >= _NEARLY_ALL and heaviest["op_ms"] >= _MUCH * slowest["self_ms"])


def _where(line: dict[str, Any]) -> str:
    place = f"Line {line['line']}" if line["file"] == "cell" else f"Line {line['line']} of {line['file']}"
    return f"{place}, `{_units.shorten(line['code'], _MAX_CODE_IN_MENU)}`,"


def _links(line: dict[str, Any]) -> list[Link]:
    return [Link("Show in the trace", PAGES["trace"], line["event"])] if line["event"] else []


def _lines(title: str, rows: pd.DataFrame, columns: tuple[Column, ...]) -> list[Panel]:
    indented = rows.assign(code=[_INDENT.sub(_unbreakable, code) for code in rows["code"]])
    known = [column for column in columns if not rows[column.key].isna().all()]
    return [Table(title, indented, known, rows=60, selects="event")] if len(rows) else []


def _unbreakable(indent: re.Match[str]) -> str:
    return "\N{NO-BREAK SPACE}" * len(indent[0].expandtabs(4))


def _ops(source: SourceLines) -> list[Panel]:
    """Return a menu of lines with their ops, the heaviest line first."""
    heavy = source.table[source.table["op_ms"] > 0].nlargest(_MAX_LINES_IN_MENU, "op_ms")
    pages = [
        Tab(
            f"{'' if file == 'cell' else f'{file} '}{line}: {_units.shorten(code.strip(), _MAX_CODE_IN_MENU)}",
            partial(_of_line, source, line, file),
        )
        for file, line, code in heavy[["file", "line", "code"]].itertuples(index=False)
    ]
    return [Tabs(pages, "menu", "ops of line", shown=1)] if pages else []


def _of_line(source: SourceLines, line: int, file: str) -> list[Panel]:
    ops = source.ops(line, file)
    known = [column for column in _OP_COLUMNS if not ops[column.key].isin(["", False]).all()]
    return [Table(f"Ops of line {line}", ops, known, selects=OP, kept_in=f"ops({line}, {file!r})")]
