"""The drawing vocabulary: what a view may show. Panels are plain data; back ends draw each of them once.

In: numbers and text that views took from results. Out: panels. Nothing here knows profiles or draws anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb._units import Kind

# Drops what a name that is too long loses first.
Trim = Callable[[str], str]


@dataclass(frozen=True)
class Link:
    """Opens a page of the tabs around it, by the page's name, and shows an op or a time range there."""

    text: str
    page: str
    op: str | None = None
    time_range: tuple[int, int] | None = None


@dataclass(frozen=True)
class Note:
    """A sentence or two, with code between backticks.

    ``answer`` is the headline, ``advice`` what to do, ``empty`` why something has no data. ``links`` lead to
    pages that prove it, where there is script to follow them.
    """

    text: str
    kind: Literal["answer", "advice", "info", "warning", "empty"] = "info"
    links: Sequence[Link] = ()


@dataclass(frozen=True)
class Figure:
    """One headline number, already formatted, with what it means."""

    label: str
    value: str
    meaning: str = ""


@dataclass(frozen=True)
class KeyFigures:
    """A row of headline numbers."""

    figures: Sequence[Figure]


@dataclass(frozen=True)
class Part:
    """One part of a whole, in the unit of the panel that holds it."""

    label: str
    value: float
    color: str


@dataclass(frozen=True)
class Split:
    """One bar that shows how a whole is divided, e.g. the average step."""

    title: str
    parts: Sequence[Part]
    unit: Kind = "ms"


@dataclass(frozen=True)
class Bars:
    """Horizontal bars, largest first: one value per label; ``trim`` is as in `Column`."""

    title: str
    parts: Sequence[Part]
    unit: Kind = "us"
    trim: Trim = str


@dataclass(frozen=True)
class Pie:
    """How a whole is divided among many: one slice per part, largest first; ``trim`` is as in `Column`."""

    title: str
    parts: Sequence[Part]
    unit: Kind = "us"
    trim: Trim = str


@dataclass(frozen=True)
class Node:
    """One box of a diagram: a name, lines of numbers, and the index of the node that it feeds (None: the last one).

    ``path`` nodes are on the critical path, the ``bottleneck`` is the one to look at.
    """

    name: str
    lines: Sequence[str]
    feeds: int | None
    kind: Literal["plain", "path", "bottleneck"] = "plain"


@dataclass(frozen=True)
class Diagram:
    """Boxes, each feeding another: a pipeline, drawn from its sources down to its end."""

    title: str
    nodes: Sequence[Node]


@dataclass(frozen=True)
class Series:
    """One named sequence of values, all series of a chart sharing their x; ``meaning`` says more than its label."""

    label: str
    values: Floats
    color: str
    meaning: str = ""


@dataclass(frozen=True)
class StackedBars:
    """One bar per x, divided into series. ``marked`` x values are drawn apart (warm-up steps).

    These are hatched, and cut off where they would dwarf the others. ``selects`` says what a click on a bar selects in
    the whole view: the step that x names, or nothing. ``names`` are what the bars are called where x only counts them;
    many don't fit below the bars, where they are then numbered. ``unit`` is that of the values. Where bars are not
    ``averaged``, as before and after are not, the legend tells the values themselves.
    """

    title: str
    x: Floats
    series: Sequence[Series]
    x_label: str
    y_label: str
    marked: Sequence[float] = ()
    marked_label: str = ""
    selects: Literal["step", ""] = ""
    names: Sequence[str] = ()
    unit: Kind = "ms"
    averaged: bool = True


@dataclass(frozen=True)
class Lines:
    """One line (or stacked area) per series over x; ``held`` values last until the next x.

    ``notes`` says of each x what a reader who points at it should know besides the values.
    """

    title: str
    x: Floats
    series: Sequence[Series]
    x_label: str
    y_label: str
    stacked: bool = False
    held: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Column:
    """How to show one column of a table.

    ``bar`` draws the value as a bar beside the number. ``path`` says that slashes divide the texts, as in names of ops:
    texts that are too long are cut at slashes, ``trim`` first, and different texts never look the same.
    """

    key: str
    header: str
    kind: Kind = "text"
    bar: bool = False
    meaning: str = ""
    path: bool = False
    trim: Trim = str


@dataclass(frozen=True)
class Table:
    """A frame with the columns to show. Sorting and searching are the back end's; ``rows`` is what static forms show.

    ``selects`` is the column whose value in the selected row becomes the view's selected op; rows select nothing if it
    is empty or missing in the frame. For rows that form a tree, each after its parent, ``depth`` is the column of
    their depths; the first column's texts are then indented with no-break spaces.
    """

    title: str
    frame: pd.DataFrame
    columns: Sequence[Column]
    rows: int = 20
    selects: str = ""
    depth: str = ""


class TimelineSource(Protocol):
    """What a timeline asks its data of; analysis/trace.py has this shape."""

    def header(self) -> dict[str, object]:
        """Everything but the events: groups, tracks, names, colours, steps (see docs/trace-format.md)."""

    def payload(self) -> bytes:
        """The events as compressed columns (see docs/trace-format.md)."""

    def overview(self, bins: int) -> tuple[Floats, list[str]]:
        """Busy share (0 to 1), tracks x bins, and the tracks' labels: the picture for places without script."""

    def details(self, event: int) -> dict[str, object]:
        """Every stat of one event, by its number."""

    def source_line(self, event: int) -> str:
        """Place and text of the line of code that an event comes from, or nothing."""

    def event_name(self, op: str) -> str:
        """What the events of an op are called; the op's own name where there are none."""

    def flows(self, event: int) -> list[dict[str, object]]:
        """What caused an event and what it caused: where these are drawn."""

    def place(self, event: int) -> dict[str, object]:
        """Where an event is drawn."""

    def level(self, bins: int) -> tuple[dict[str, object], bytes]:
        """Header and payload with events merged that are shorter than a ``bins``-th of the whole."""

    def tile(self, start_ps: int, end_ps: int, bins: int) -> tuple[dict[str, object], bytes]:
        """A stretch of time in which events are merged that are shorter than a ``bins``-th of it."""

    def find(self, names: Sequence[int], after: int, start_ps: int, direction: int) -> dict[str, object] | None:
        """The event next in time that has one of some names of the header: where it is drawn."""

    def totals(self, start_ps: int, end_ps: int, tracks: Sequence[int] | None) -> pd.DataFrame:
        """What ran between two times: ``name count total_ms self_ms avg_ms``."""


@dataclass(frozen=True)
class Timeline:
    """Events on tracks over time: zoom, pan, select."""

    title: str
    source: TimelineSource


@dataclass(frozen=True)
class Tab:
    """One page of a dashboard; ``panels`` is called when the page is first needed."""

    name: str
    panels: Callable[[], Sequence[Panel]] = field(repr=False)

    def open(self) -> list[Panel]:
        """Return the page's panels; where they can't be made, what went wrong: one page never costs the others."""
        try:
            return list(self.panels())
        except Exception as error:  # noqa: BLE001 - whatever it is, the reader sees it on that page
            return [Note(f"{self.name} can't be shown: {type(error).__name__}: {error}", "warning")]


@dataclass(frozen=True)
class Tabs:
    """Pages of which one is visible.

    ``kind`` is how a reader chooses: by tabs, from a menu with a ``label``, or along a slider where pages have an
    order. Static forms show the first ``shown`` pages, all where it is None, and say that there are more.
    """

    tabs: Sequence[Tab]
    kind: Literal["tabs", "menu", "slider"] = "tabs"
    label: str = ""
    shown: int | None = None


Panel = Note | KeyFigures | Split | Bars | Pie | Diagram | StackedBars | Lines | Table | Timeline | Tabs
