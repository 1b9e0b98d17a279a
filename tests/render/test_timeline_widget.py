import json

import numpy as np
import pytest

from tfprof_nb.render import timeline_widget
from tfprof_nb.render.bundle import bundle
from tfprof_nb.render.timeline_widget import TraceWidget


class Source:
    """A timeline source with a payload of 10 bytes."""

    def header(self):
        return {"version": 1, "names": ["MatMul"]}

    def payload(self):
        return bytes(range(10))

    def details(self, event):
        return {"event": event, "bytes": np.int64(3), "share": np.float32(0.5), "raw": b"\x00"}


@pytest.fixture
def answers(monkeypatch):
    """A widget and the list of what it sends to the browser."""
    sent = []
    monkeypatch.setattr(TraceWidget, "send", lambda _self, content, buffers=None: sent.append(content))
    return TraceWidget(Source()), sent


def test_the_payload_travels_in_parts(monkeypatch):
    monkeypatch.setattr(timeline_widget, "CHUNK_BYTES", 4)
    widget = TraceWidget(Source())
    assert [len(part) for part in widget.payload] == [4, 4, 2]
    assert b"".join(widget.payload) == bytes(range(10))
    assert widget.header["names"] == ["MatMul"]


def test_it_answers_for_one_event_with_what_json_can_hold(answers):
    widget, sent = answers
    widget._handle_custom_msg({"type": "details", "event": 7, "id": 3}, [])
    assert sent == [{"type": "details", "id": 3, "stats": {"event": 7, "bytes": 3, "share": 0.5, "raw": "b'\\x00'"}}]
    json.dumps(sent)


def test_it_ignores_messages_that_it_does_not_know(answers):
    widget, sent = answers
    widget._handle_custom_msg({"type": "else"}, [])
    assert sent == []


def test_it_starts_with_everything_shown_and_nothing_selected():
    widget = TraceWidget(Source(), height=300, static_id="form")
    assert (widget.time_range, widget.selected_event, widget.selected_name) == (None, None, None)
    assert (widget.height, widget.static_id) == (300, "form")


def test_a_missing_bundle_says_what_to_do():
    with pytest.raises(ImportError, match=r"nothing\.js.*make build"):
        bundle("nothing")
