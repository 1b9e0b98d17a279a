import json

import numpy as np
import pandas as pd
import pytest

from tfprof_nb.render import browser_widgets
from tfprof_nb.render.browser_widgets import TraceWidget
from tfprof_nb.render.bundle import bundle


class Source:
    """A timeline source with a payload of 10 bytes."""

    def header(self):
        return {"version": 1, "names": ["MatMul"]}

    def payload(self):
        return bytes(range(10))

    def details(self, event):
        return {
            "event": event,
            "bytes": np.int64(3),
            "share": np.float32(0.5),
            "raw": b"\x00",
            "run_id": np.uint64(2**63 + 1),
        }

    def flows(self, event):
        return [{"direction": "to", "event": event + 1}]

    def source_line(self, event):
        return f"cell line {event}"

    def place(self, event):
        return {"event": event, "lane": 2}

    def tile(self, start_ps, end_ps, bins):
        return {"start_ps": start_ps, "end_ps": end_ps, "lanes": [bins], "events": 1}, b"tile"

    def find(self, names, after, start_ps, direction):
        return None if direction < 0 else {"event": after + names[0] + start_ps}

    def totals(self, start_ps, end_ps, tracks):
        return pd.DataFrame({"name": ["a"], "count": [np.int64(end_ps - start_ps)], "tracks": [len(tracks)]})


@pytest.fixture
def answers(monkeypatch):
    """A widget and the list of what it sends to the browser."""
    sent = []
    monkeypatch.setattr(TraceWidget, "send", lambda _self, *message: sent.append(message))
    return TraceWidget(Source()), sent


def test_the_payload_travels_in_parts(monkeypatch):
    monkeypatch.setattr(browser_widgets, "CHUNK_BYTES", 4)
    widget = TraceWidget(Source())
    assert [len(part) for part in widget.payload] == [4, 4, 2]
    assert b"".join(widget.payload) == bytes(range(10))
    assert widget.header["names"] == ["MatMul"]


def test_it_answers_for_one_event_with_what_json_can_hold(answers):
    widget, sent = answers
    widget._handle_custom_msg({"type": "details", "event": 7, "id": 3}, [])
    stats = {"event": 7, "bytes": 3, "share": 0.5, "raw": "b'\\x00'", "run_id": "9223372036854775809"}
    assert sent == [
        ({"type": "details", "id": 3, "stats": stats, "flows": [{"direction": "to", "event": 8}]},),
        ({"type": "source", "id": 3, "line": "cell line 7"},),
    ]
    json.dumps(sent)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ({"type": "place", "event": 5}, {"found": {"event": 5, "lane": 2}}),
        ({"type": "find", "names": [2], "after": 5, "start_ps": 100, "direction": 1}, {"found": {"event": 107}}),
        ({"type": "find", "names": [2], "after": 5, "start_ps": 100, "direction": -1}, {"found": None}),
        (
            {"type": "totals", "start_ps": 10, "end_ps": 30, "tracks": [1, 2]},
            {"rows": [{"name": "a", "count": 20, "tracks": 2}]},
        ),
    ],
)
def test_it_answers_what_the_browser_cannot_know(answers, question, answer):
    widget, sent = answers
    widget._handle_custom_msg(question | {"id": 4}, [])
    assert sent == [({"type": question["type"], "id": 4, **answer},)]
    json.dumps(sent)


def test_a_tile_travels_as_a_buffer(answers):
    widget, sent = answers
    widget._handle_custom_msg({"type": "tile", "id": 4, "start_ps": 10, "end_ps": 30.0, "bins": 2048}, [])
    told = {"type": "tile", "id": 4, "start_ps": 10, "end_ps": 30, "lanes": [2048], "events": 1}
    assert sent == [(told, [b"tile"])]


def test_it_ignores_messages_that_it_does_not_know(answers):
    widget, sent = answers
    widget._handle_custom_msg({"type": "else"}, [])
    assert sent == []


def test_it_starts_with_everything_shown_and_nothing_selected():
    widget = TraceWidget(Source(), height=300)
    assert (widget.time_range, widget.selected_event, widget.selected_name) == (None, None, None)
    assert widget.height == 300


def test_a_missing_bundle_says_what_to_do():
    with pytest.raises(ImportError, match=r"nothing\.js.*make build"):
        bundle("nothing")
