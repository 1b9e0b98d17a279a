"""A timeline in a report: its data, for the script that also draws the widget."""

import json
import zlib

from markupsafe import Markup

from tfprof_nb.render.markup import base64_of, element
from tfprof_nb.render.panels import TimelineSource

_MAX_BINS, _MIN_BINS = 65_536, 64
_MAX_HEIGHT = 480  # CSS pixels


def embedded_timeline(source: TimelineSource, budget_bytes: int) -> Markup:
    """Put a timeline's events into a script element that browsers don't run; the report's script draws them.

    It contains all events if they fit, otherwise the finest level of detail that does, with a visible notice. It lacks
    the events' stats.

    Parameters
    ----------
    budget_bytes
        The most that the HTML may take; the coarsest level, some 20 kB, is returned in any case.
    """
    data = _data(source.header(), source.payload())
    return data if len(data) <= budget_bytes else _finest(source, budget_bytes)


def _finest(source: TimelineSource, budget_bytes: int) -> Markup:
    """Return the finest level that fits, where each level has twice as many bins; the coarsest if none does."""
    bins = _MIN_BINS
    data = _data(*source.level(bins))
    while bins < _MAX_BINS and len(finer := _data(*source.level(2 * bins))) <= budget_bytes:
        data, bins = finer, 2 * bins
    return data


def _data(header: dict[str, object], payload: bytes) -> Markup:
    """Return the script element of a header and a payload."""
    packed = zlib.compress(json.dumps(header | {"alone": True}).encode(), level=9)
    data = {"header": base64_of(packed), "payload": base64_of(payload), "height": _MAX_HEIGHT}
    # Numbers and base64 have no characters that end the element.
    return element("script", Markup(json.dumps(data)), type="application/json", class_="tfp-trace-data")  # noqa: S704
