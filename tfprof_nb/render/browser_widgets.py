"""The widgets whose JavaScript is our own, built from ``js/src``: they are sent their data once."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import anywidget
import pandas as pd
import traitlets.traitlets as t
from markupsafe import Markup

from tfprof_nb.render.bundle import source
from tfprof_nb.render.embedded import boxes
from tfprof_nb.render.panels import Change, Column, Flame, TimelineSource
from tfprof_nb.render.table.format import encode_table

# Front ends and proxies are known to drop or refuse larger messages.
CHUNK_BYTES = 4_000_000


class HeadWidget(anywidget.AnyWidget):
    """A view's title line; it also applies the notebook's theme to the view.

    While it is on the page, it hides the static forms, whose ids begin with ``static_id``. When the kernel has ended,
    it offers ``reopen``: code that shows the view again.
    """

    _esm, _css = source("head")

    title = t.Unicode().tag(sync=True)
    static_id = t.Unicode().tag(sync=True)
    reopen = t.Unicode().tag(sync=True)


class TabsWidget(anywidget.AnyWidget):
    """Shows one of several widgets, which have the CSS classes of `pane_class`, and hides the others.

    Parameters
    ----------
    names
        The pages' names.
    kind
        ``tabs``, ``menu`` or ``slider``.
    label
        What a menu or a slider chooses.
    groups
        The tab that each page belongs to; pages of one tab stand in a row of their own. Empty if each page is a tab.

    Attributes
    ----------
    selected
        Index of the open tab; observe it to fill a pane when it is first opened.
    opened
        What to show for the link followed last: ``{"page", "op", "range"}``.
    """

    _esm, _css = source("tabs")

    names = t.List(t.Unicode()).tag(sync=True)
    groups = t.List(t.Unicode()).tag(sync=True)
    selected = t.Int(0).tag(sync=True)
    kind = t.Unicode("tabs").tag(sync=True)
    label = t.Unicode("").tag(sync=True)
    opened: Any = t.Dict(None, allow_none=True).tag(sync=True)
    uid = t.Unicode().tag(sync=True)

    def __init__(self, names: Sequence[str], **traits: Any) -> None:
        super().__init__(names=list(names), uid=uuid4().hex, **traits)

    def pane_class(self, index: int) -> str:
        """Return the CSS class for the pane of tab ``index`` (``box.add_class(...)``)."""
        return f"tfp-pane-{self.uid}-{index}"


class ChangeWidget(anywidget.AnyWidget):
    """The card of a change: one button copies the new code, the other puts the changed cell below the current one."""

    _esm, _css = source("change")

    html = t.Unicode().tag(sync=True)
    code = t.Unicode().tag(sync=True)

    def __init__(self, panel: Change, html: Markup, **traits: Any) -> None:
        super().__init__(html=str(html), code=panel.new, **traits)
        self._apply = panel.apply
        self.on_msg(self._asked)

    def _asked(self, _: object, content: dict[str, Any], __: object) -> None:
        if content.get("type") == "apply" and self._apply:
            self.send({"type": "cell", "text": self._apply()})


class ReadoutWidget(anywidget.AnyWidget):
    """The legend of the chart with the CSS class ``chart``: means at rest, values at the pointer.

    It names the chart ``title`` for screen readers and offers its numbers as a table. ``selected`` is the index of the
    bar that the reader selected with Enter; charts set it when a bar is clicked. ``figure`` is the id of bqplot's
    figure, which by itself is drawn anew for another width only when it is seen, and then too late.
    """

    _esm, _css = source("readout")

    chart = t.Unicode().tag(sync=True)
    figure = t.Unicode().tag(sync=True)
    title = t.Unicode().tag(sync=True)
    x: t.List[Any] = t.List().tag(sync=True)
    x_label = t.Unicode().tag(sync=True)
    entries: t.List[Any] = t.List().tag(sync=True)
    summary = t.Unicode().tag(sync=True)
    notes: t.List[str] = t.List().tag(sync=True)
    selected = t.Int(None, allow_none=True).tag(sync=True)


class FlameWidget(anywidget.AnyWidget):
    """Draws the boxes of a flame graph; ``boxes`` has a list per column, names and colours as numbers of texts."""

    _esm, _css = source("flame")

    boxes: Any = t.Dict().tag(sync=True)
    legend: Any = t.List().tag(sync=True)

    def __init__(self, panel: Flame, **traits: Any) -> None:
        super().__init__(boxes=boxes(panel), legend=[list(entry) for entry in panel.legend], **traits)


class TableWidget(anywidget.AnyWidget):
    """A table of any length.

    Parameters
    ----------
    frame
        The rows.
    columns
        Which columns to show, and how.
    depth
        For rows that form a tree, the column of their depths; else empty.

    Attributes
    ----------
    selected_row
        Position of the selected row in ``frame``, whatever the order on screen, or None.
    title
        The table's name for screen readers and for exported files.
    """

    _esm, _css = source("table")

    title = t.Unicode("").tag(sync=True)
    rows = t.Int(0).tag(sync=True)
    columns = t.List(t.Dict()).tag(sync=True)
    buffers = t.List(t.Bytes()).tag(sync=True)
    depths = t.Bytes(b"").tag(sync=True)
    selected_row = t.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, frame: pd.DataFrame, columns: Sequence[Column], depth: str = "", **traits: Any) -> None:
        headers, buffers, depths = encode_table(frame, columns, depth)
        super().__init__(rows=len(frame), columns=headers, buffers=buffers, depths=depths, **traits)


class TraceWidget(anywidget.AnyWidget):
    """A timeline to zoom, pan, search and select in.

    Parameters
    ----------
    source
        The data of the timeline. It answers requests for the stats of a selected event and, if there are too many
        events to send them all, for those in a range of time.

    Attributes
    ----------
    time_range
        The visible range in picoseconds as ``[start, end]``, or None for everything.
    selected_event
        The selected event's number, or None.
    selected_name
        The name whose events are highlighted, or None.
    height
        The maximum height of the drawing in CSS pixels.
    """

    _esm, _css = source("trace")

    header = t.Dict().tag(sync=True)
    payload = t.List(t.Bytes()).tag(sync=True)
    time_range = t.List(t.Float(), default_value=None, allow_none=True, minlen=2, maxlen=2).tag(sync=True)
    selected_event = t.Int(None, allow_none=True).tag(sync=True)
    selected_name = t.Unicode(None, allow_none=True).tag(sync=True)
    height = t.Int(480).tag(sync=True)

    def __init__(self, source: TimelineSource, **traits: Any) -> None:
        self._source = source
        payload = source.payload()
        chunks = [payload[at : at + CHUNK_BYTES] for at in range(0, len(payload), CHUNK_BYTES)]
        super().__init__(header=source.header(), payload=chunks, **traits)
        self.on_msg(self._answer)

    def _answer(self, _widget: object, question: dict[str, Any], _buffers: list[memoryview]) -> None:
        kind, known = question.get("type"), {"id": question.get("id")}
        if kind == "details":
            event = int(question["event"])
            stats = _json_ready(self._source.details(event))
            stats = {name: _id_as_text(name, value) for name, value in stats.items()}
            self.send({"type": kind, **known, "stats": stats, **_json_ready({"flows": self._source.flows(event)})})
            # The first look-up of a line of code takes longer, so that it is an answer of its own.
            self.send({"type": "source", **known, "line": self._source.source_line(event)})
        elif kind == "tile":
            start_ps, end_ps = int(question["start_ps"]), int(question["end_ps"])
            tile, payload = self._source.tile(start_ps, end_ps, int(question["bins"]))
            self.send({"type": kind, **known, **tile}, [payload])
        elif kind == "find":
            after, start_ps = int(question["after"]), int(question["start_ps"])
            found = self._source.find(question["names"], after, start_ps, int(question["direction"]))
            self.send({"type": kind, **known, "found": found})
        elif kind == "place":
            self.send({"type": kind, **known, "found": self._source.place(int(question["event"]))})
        elif kind == "totals":
            totals = self._source.totals(int(question["start_ps"]), int(question["end_ps"]), question["tracks"])
            self.send({"type": kind, **known, "rows": _json_ready({"rows": totals.to_dict("records")})["rows"]})


def _json_ready(stats: dict[str, object]) -> dict[str, object]:
    """Convert numpy's numbers to Python's, and whatever else JSON does not know to text."""
    ready: dict[str, object] = json.loads(json.dumps(stats, default=_plain))
    return ready


def _id_as_text(name: str, value: Any) -> Any:
    """Return an id as text: JavaScript rounds numbers of more than 53 bits, and an id is no quantity."""
    is_id = name.endswith(("id", "_c", "_p")) and not isinstance(value, float)
    return str(value) if is_id or (isinstance(value, int) and abs(value) >= 2**53) else value


def _plain(value: Any) -> object:
    return value.item() if hasattr(value, "item") else str(value)
