"""The trace viewer in a page of its own: the same script as the widget's, with an overview of the events beside it."""

from __future__ import annotations

import base64
import json
import zlib

from tfprof_nb.render.bundle import report_viewers
from tfprof_nb.render.panels import TimelineSource

_MOST_BINS, _LEAST_BINS = 65_536, 64


def timeline_html(
    source: TimelineSource, budget_bytes: int = 300_000, *, height: int = 480, with_viewer: bool = True
) -> str:
    """Return HTML that shows a timeline to zoom, pan and search in, without a kernel or the internet.

    All events are in it where they fit, else as many levels of detail as do, with a visible notice. The stats of events
    are not. The browser runs its script, so it is for reports, not for a notebook's outputs.

    Parameters
    ----------
    source
        Where the events come from.
    budget_bytes
        The most that the HTML may take, viewer included; the coarsest form (some 100 kB) is given in any case.
    height
        The largest height of the drawing in CSS pixels.
    with_viewer
        Whether the viewer's script and style come along; a page needs them once, after its last timeline or before.
    """
    viewer = report_viewers() if with_viewer else ""
    room = budget_bytes - len(viewer.encode())
    data = _data(source.header(), source.payload(), height)
    return (data if len(data) <= room else _finest(source, room, height)) + viewer


def _finest(source: TimelineSource, room: int, height: int) -> str:
    """The finest level that fits, of those with twice as many bins each; the coarsest if none does."""
    bins = _LEAST_BINS
    data = _data(*source.level(bins), height)
    while bins < _MOST_BINS and len(finer := _data(*source.level(2 * bins), height)) <= room:
        data, bins = finer, 2 * bins
    return data


def _data(header: dict[str, object], payload: bytes, height: int) -> str:
    """Put the columns into a script element that no browser runs."""
    packed = zlib.compress(json.dumps(header | {"alone": True}).encode(), level=9)
    told = {"header": _base64(packed), "payload": _base64(payload), "height": height}
    return f'<script type="application/json" class="tfp-trace-data">{json.dumps(told)}</script>'


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
