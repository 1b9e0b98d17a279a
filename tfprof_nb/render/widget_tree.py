"""Closing widgets whole: ipywidgets keeps each one until it is closed itself, its layout and its marks included."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets


def close_all(widgets: list[ipywidgets.Widget]) -> None:
    """Close widgets and forget who observes them."""
    for widget in widgets:
        widget.close()
        widget.unobserve_all()


def whole(widget: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    """Return a widget and all that it is made of, down to the scales of its charts and everybody's layout."""
    found, seen = [widget], {widget}
    for one in found:  # which grows meanwhile
        new = set(_parts(one)) - seen
        found += new
        seen |= new
    return found


def _parts(widget: ipywidgets.Widget) -> Iterator[ipywidgets.Widget]:
    """Yield the widgets that a widget's state refers to."""
    written = ipywidgets.widget_serialization["to_json"]
    for name in widget.traits(to_json=lambda function: function is written):
        value = getattr(widget, name)
        held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
        yield from (one for one in held if isinstance(one, ipywidgets.Widget))
