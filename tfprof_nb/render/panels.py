"""The vocabulary of drawing: what a view can show. Panels are plain data, which HTML, text and widgets draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb._units import Kind

# Returns a name without what it can lose first, where it is too long.
Trim = Callable[[str], str]


@dataclass(frozen=True)
class Link:
    """A link to another page of the tabs around it, by the page's name, and to an op or a time range there.

    ``time_range`` is start and end, in picoseconds from the start of the timeline.
    """

    text: str
    page: str
    op: str | None = None
    time_range: tuple[int, int] | None = None


@dataclass(frozen=True)
class Note:
    """A sentence or two, with code between backticks.

    ``answer`` is the headline, ``advice`` what to do, ``empty`` why there is no data. ``links`` lead to the evidence;
    places without script leave them out. ``code`` are lines of code below the text.
    """

    text: str
    kind: Literal["answer", "advice", "info", "warning", "empty"] = "info"
    links: Sequence[Link] = ()
    code: str = ""


@dataclass(frozen=True)
class Offer:
    """Something that can be run on request: a button where a kernel listens, its code where none does.

    ``run`` returns the panels of what came out; what it raises is shown.
    """

    label: str
    text: str
    code: str
    run: Callable[[], Sequence[Panel]] = field(repr=False)

    @property
    def note(self) -> Note:
        """The code, for places without a kernel."""
        return Note(self.text, "info", code=self.code)


@dataclass(frozen=True)
class Headline:
    """The answer in a sentence, with code between backticks; beside it what could be gained, and what that rests on."""

    text: str
    gain: str = ""
    ground: str = ""


@dataclass(frozen=True)
class Bar:
    """One bar of a comparison: what it stands for, its parts, and its length as text; an estimate is hatched."""

    label: str
    parts: Sequence[Part]
    text: str
    estimated: bool = False


@dataclass(frozen=True)
class Change:
    """One change to the program, as a card.

    Attributes
    ----------
    place, action
        Where, and what to do in a few words.
    text
        Why: sentences, with code between backticks.
    old, new
        The code that stands there and the code for its place, drawn as a diff; empty if there is no code to paste.
    bars
        What it takes now, and then.
    links
        Lead to the evidence.
    gain
        What it could save, for the one line that a folded card shows.
    folded
        Whether the card shows one line, and opens on a click.
    offer
        Tries the change; its button stands in the card's head.
    apply
        Returns the whole text of the changed cell, which a front end puts into a new cell.
    """

    place: str
    action: str
    text: str
    old: str = ""
    new: str = ""
    bars: Sequence[Bar] = ()
    links: Sequence[Link] = ()
    gain: str = ""
    folded: bool = False
    apply: Callable[[], str] | None = field(default=None, repr=False)
    offer: Offer | None = None


@dataclass(frozen=True)
class Composition:
    """What a whole is made of, by name: one row per part with its bar, its size and its share of the whole."""

    title: str
    about: str
    parts: Sequence[Part]
    whole: float
    unit: Kind = "ms"


@dataclass(frozen=True)
class Figure:
    """One headline number as text, with its tooltip."""

    label: str
    value: str
    meaning: str = ""


@dataclass(frozen=True)
class KeyFigures:
    """A row of headline numbers."""

    figures: Sequence[Figure]


@dataclass(frozen=True)
class Part:
    """One part of a whole; the unit is that of its panel.

    ``place`` stands quietly behind the label, which leads to the page of the name ``page``, where there is one.
    """

    label: str
    value: float
    color: str
    place: str = ""
    page: str = ""


@dataclass(frozen=True)
class Split:
    """One bar that shows how a whole is divided."""

    title: str
    parts: Sequence[Part]
    unit: Kind = "ms"


@dataclass(frozen=True)
class Bars:
    """Horizontal bars, largest first: one value per label. ``trim`` is as in `Column`."""

    title: str
    parts: Sequence[Part]
    unit: Kind = "us"
    trim: Trim = str


@dataclass(frozen=True)
class Box:
    """One box of a network: a name, lines of numbers, its share of the whole (0 to 1), and the boxes that feed it.

    The ``mark`` is a word for the box that matters, which has a colour of its own.
    """

    name: str
    lines: Sequence[str]
    share: float
    inputs: Sequence[int]
    mark: str = ""


@dataclass(frozen=True)
class Network:
    """Boxes that feed one another, each after those that feed it, drawn from the first down to the last.

    The ``color`` is that of the bars that show the shares.
    """

    title: str
    boxes: Sequence[Box]
    color: str


@dataclass(frozen=True)
class Flame:
    """Boxes below the box that holds them, each as wide as what it stands for.

    Attributes
    ----------
    frame
        A row per box, each before those that it holds: ``name depth start total own`` (in the unit) and ``color``.
    legend
        What the colours mean: names and colours.
    """

    title: str
    frame: pd.DataFrame
    legend: Sequence[tuple[str, str]]
    unit: Kind = "ms"


@dataclass(frozen=True)
class HeatMap:
    """One cell per row and column, the darker the larger its value.

    Attributes
    ----------
    values
        Rows by columns, NaN where there is none.
    rows, columns
        The names of the rows, and the numbers of the columns, in order.
    row_label, column_label
        What the rows and the columns are.
    """

    title: str
    values: Floats
    rows: Sequence[str]
    columns: Sequence[int]
    row_label: str
    column_label: str
    color: str
    unit: Kind = "ms"


@dataclass(frozen=True)
class Series:
    """One named sequence of values, one per x of its chart; ``meaning`` is its tooltip."""

    label: str
    values: Floats
    color: str
    meaning: str = ""


@dataclass(frozen=True)
class StackedBars:
    """One bar per x, divided into series.

    Attributes
    ----------
    marked, marked_label
        The x of bars that are hatched, left out of averages, and cut off if they would dwarf the others; and what they
        are called.
    selects
        What a click on a bar selects in the whole view: the step with the number x, or nothing.
    names
        Names of the bars, if x only counts them. Where they are too many to fit, bars are numbered.
    unit
        The unit of the values.
    about
        What the bars are like together, such as their median; stands beside the title.
    pale, pale_label
        The x of bars that are drawn pale, and why.
    uncounted
        The x of further bars that averages leave out.
    gaps
        Where something lies between two bars: the x of the second, and what it is; without a text, a mere line.
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
    about: str = ""
    pale: Sequence[float] = ()
    pale_label: str = ""
    gaps: Sequence[tuple[float, str]] = ()
    uncounted: Sequence[float] = ()


@dataclass(frozen=True)
class Lines:
    """One line, or stacked area, per series over x; ``held`` values last until the next x.

    ``notes`` are texts for a pointer, one per x, shown with the values. ``percent`` is a line over the others, with an
    axis of its own to the right, from 0 to 100 %.
    """

    title: str
    x: Floats
    series: Sequence[Series]
    x_label: str
    y_label: str
    stacked: bool = False
    held: bool = False
    notes: Sequence[str] = ()
    percent: Series | None = None


@dataclass(frozen=True)
class Column:
    """How to show one column of a table.

    Attributes
    ----------
    bar
        Whether a bar beside the number shows the value.
    meaning
        The tooltip of the header.
    path
        Whether slashes divide the texts, as in names of ops. If they are too long, they are cut at slashes, such that
        different texts stay different.
    trim
        Returns a path without what it can lose first.
    signed
        Whether values above 0 have a plus sign, as changes.
    hidden
        Whether it is shown only once the table's menu of columns has it ticked.
    """

    key: str
    header: str
    kind: Kind = "text"
    bar: bool = False
    meaning: str = ""
    path: bool = False
    trim: Trim = str
    signed: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Table:
    """A frame with the columns to show.

    Attributes
    ----------
    rows
        How many rows places without script show.
    selects
        The column whose value in the selected row becomes the view's selected op. If it is empty or missing in the
        frame, rows select nothing.
    depth
        For rows that form a tree, each after its parent: the column of their depths. The first column's texts are then
        indented with no-break spaces.
    kept_in
        Which attribute of the result has all rows and columns; empty if none has.
    """

    title: str
    frame: pd.DataFrame
    columns: Sequence[Column]
    rows: int = 20
    selects: str = ""
    depth: str = ""
    kept_in: str = "table"


class TimelineSource(Protocol):
    """The data of a timeline; `Trace` in analysis implements it."""

    def header(self) -> dict[str, object]:
        """Everything but the events: groups, tracks, names, colours, steps (see docs/trace-format.md)."""

    def payload(self) -> bytes:
        """The events as compressed columns (see docs/trace-format.md)."""

    def overview(self, bins: int) -> tuple[Floats, list[str]]:
        """Busy share (0 to 1) as tracks x bins, and the tracks' labels, for the picture in places without script."""

    def details(self, event: int) -> dict[str, object]:
        """All stats of one event, by the event's number."""

    def source_line(self, event: int) -> str:
        """File, line and text of the code that an event comes from; empty if unknown."""

    def event_name(self, op: str) -> str:
        """The name of an op's events; the op's own name if it has none."""

    def event_of(self, op: str, start_ps: int, end_ps: int) -> dict[str, object] | None:
        """Where the first event of an op that starts between two times is drawn; None if there is none."""

    def flows(self, event: int) -> list[dict[str, object]]:
        """Where the causes and the effects of an event are drawn."""

    def place(self, event: int) -> dict[str, object]:
        """Where an event is drawn."""

    def level(self, bins: int) -> tuple[dict[str, object], bytes]:
        """Header and payload, in which events shorter than a ``bins``-th of the whole are merged."""

    def tile(self, start_ps: int, end_ps: int, bins: int) -> tuple[dict[str, object], bytes]:
        """A range of time, in which events shorter than a ``bins``-th of it are merged."""

    def find(self, names: Sequence[int], after: int, start_ps: int, direction: int) -> dict[str, object] | None:
        """Where the next event in time with one of the names is drawn; names are indices into the header's."""

    def totals(self, start_ps: int, end_ps: int, tracks: Sequence[int] | None) -> pd.DataFrame:
        """What ran between two times: ``name count total_ms self_ms avg_ms``."""


@dataclass(frozen=True)
class Timeline:
    """Events on tracks over time: zoom, pan, select."""

    title: str
    source: TimelineSource


@dataclass(frozen=True)
class Tab:
    """One page; ``panels`` is called when the page is first needed. Pages of one ``group`` share a tab."""

    name: str
    panels: Callable[[], Sequence[Panel]] = field(repr=False)
    group: str = ""

    def open(self) -> list[Panel]:
        """Return the page's panels; if computing them fails, a note about the error, so that other pages still show."""
        try:
            return list(self.panels())
        except Exception as error:  # noqa: BLE001 - whatever it is, the reader sees it on that page
            return [Note(f"{self.name} can't be shown: {type(error).__name__}: {error}", "warning")]


@dataclass(frozen=True)
class Tabs:
    """Pages of which one is visible at a time.

    ``kind`` is how a reader chooses: by tabs, with a second row for the pages of a group, from a menu with a ``label``,
    or along a slider if pages have an order.
    Static forms show the first ``shown`` pages, all if it is None, and say that there are more.
    """

    tabs: Sequence[Tab]
    kind: Literal["tabs", "menu", "slider"] = "tabs"
    label: str = ""
    shown: int | None = None


@dataclass(frozen=True)
class Beside:
    """Panels side by side, the first one the widest, if the page is wide enough; else one below the other."""

    panels: Sequence[Panel]


Chart = Bars | Network | Flame | HeatMap | StackedBars | Lines | Timeline
Panel = Headline | Note | Change | Offer | Composition | Split | KeyFigures | Chart | Table | Tabs | Beside
