"""Flame graphs of ops by name scope, and of Python by call, each with its table."""

from functools import partial

import pandas as pd

from tfprof_nb.analysis.flame import Flame
from tfprof_nb.render import panels as drawn
from tfprof_nb.render.panels import Beside, Column, Note, Panel, Tab, Table, Tabs
from tfprof_nb.render.theme import BLUE, GREEN, GREY, OLIVE, PURPLE, SILVER, SKY, TEAL, VERMILLION

_COLORS = {
    "forward": ("forward", BLUE),
    "backward": ("backward", SKY),
    "optimizer": ("optimizer", PURPLE),
    "device": ("other ops on devices", GREEN),
    "host": ("other ops on the host", TEAL),
    "input": ("input", VERMILLION),
    "yours": ("your code", OLIVE),
    "library": ("libraries", SILVER),
}
_INDENT = "\N{NO-BREAK SPACE}" * 2
_COLUMNS = (
    Column("row", "name", "code"),
    Column("total_ms", "time", "ms", bar=True, meaning="with everything inside, in the whole capture"),
    Column("total_share", "share", "share", meaning="of everything"),
    Column("self_ms", "own time", "ms", meaning="without what is inside"),
)
_ABOUT = {
    "ops, by name scope": "Self times of all ops of the capture, summed over threads and devices. A scope that a loop "
    "or a gradient repeats stands once.",
    "Python, by call": "Samples of Python's stacks, of all threads together. Calls within a library are one box.",
}
_KEPT_IN = dict(zip(_ABOUT, ("table", "python"), strict=True))


def panels_of(title: str, frame: pd.DataFrame) -> list[Panel]:
    """Show one flame graph with its table."""
    color = frame["kind"].map({kind: color for kind, (_, color) in _COLORS.items()}).fillna(GREY)
    boxes = frame[["name", "depth"]].assign(
        start=frame["start_ms"], total=frame["total_ms"], own=frame["self_ms"], color=color
    )
    there = set(frame["kind"])
    legend = [meaning for kind, meaning in _COLORS.items() if kind in there]
    indent = [_INDENT * depth for depth in frame["depth"]]
    rows = frame.assign(row=[space + name for space, name in zip(indent, frame["name"], strict=True)])
    table = Table("", rows, _COLUMNS, 12, "op_name", "depth", kept_in=_KEPT_IN[title])
    return [Note(_ABOUT[title]), Beside([drawn.Flame("", boxes, legend), table])]


def panels(result: Flame) -> list[Panel]:
    """Show the flame graphs that there are; a menu chooses one."""
    tables = zip(_ABOUT, (result.table, result.python), strict=True)
    tabs = [Tab(title, partial(panels_of, title, table)) for title, table in tables if len(table)]
    return [
        *([Tabs(tabs, "menu", "show")] if len(tabs) > 1 else [panel for tab in tabs for panel in tab.open()]),
        *(Note(note, "info" if tabs else "empty") for note in result.notes),
    ]
