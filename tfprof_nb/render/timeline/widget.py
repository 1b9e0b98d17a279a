"""The trace viewer as a widget: sends a timeline once, then answers the viewer's requests."""

import json
from typing import Any

import anywidget
import traitlets.traitlets as t

from tfprof_nb.render.bundle import source
from tfprof_nb.render.panels import TimelineSource

# Front ends and proxies are known to drop or refuse larger messages.
CHUNK_BYTES = 4_000_000


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
