"""A timeline in a page without a kernel: its events, for the same script as the widget's."""

from __future__ import annotations

import base64
import json
import zlib

from markupsafe import Markup

from tfprof_nb.render.markup import element
from tfprof_nb.render.panels import TimelineSource

_MAX_BINS, _MIN_BINS = 65_536, 64
_HEIGHT = 480  # the drawing's largest, in CSS pixels


def embedded_timeline(source: TimelineSource, budget_bytes: int) -> Markup:
    """Return a timeline that the script of `bundle.report_viewers` draws, to zoom, pan and search in without a kernel.

    All events are in it where they fit, else as many levels of detail as do, with a visible notice. The stats of events
    are not. The browser runs the script, so it is for reports, not for a notebook's outputs.

    Parameters
    ----------
    source
        Where the events come from.
    budget_bytes
        The most that the HTML may take; the coarsest form (some 20 kB) is given in any case.
    """
    data = _data(source.header(), source.payload())
    return data if len(data) <= budget_bytes else _finest(source, budget_bytes)


def _finest(source: TimelineSource, budget_bytes: int) -> Markup:
    """The finest level that fits, of those with twice as many bins each; the coarsest if none does."""
    bins = _MIN_BINS
    data = _data(*source.level(bins))
    while bins < _MAX_BINS and len(finer := _data(*source.level(2 * bins))) <= budget_bytes:
        data, bins = finer, 2 * bins
    return data


def _data(header: dict[str, object], payload: bytes) -> Markup:
    """Put the columns into a script element that no browser runs."""
    packed = zlib.compress(json.dumps(header | {"alone": True}).encode(), level=9)
    told = {"header": _base64(packed), "payload": _base64(payload), "height": _HEIGHT}
    # Numbers and base64 have no characters that end the element.
    return element("script", Markup(json.dumps(told)), type="application/json", class_="tfp-trace-data")  # noqa: S704


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
