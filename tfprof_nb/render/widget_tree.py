"""Closing widgets with all their parts: ipywidgets keeps each part until it is closed itself."""

from collections.abc import Iterator

import ipywidgets


def close_all(widgets: list[ipywidgets.Widget]) -> None:
    """Close widgets and remove their observers."""
    for widget in widgets:
        widget.close()
        widget.unobserve_all()


def whole(widget: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    """Return a widget and all its parts, down to the scales of charts and the layouts."""
    parts, seen = [widget], {widget}
    for part in parts:  # the list grows meanwhile
        new = set(_parts(part)) - seen
        parts += new
        seen |= new
    return parts


def _parts(widget: ipywidgets.Widget) -> Iterator[ipywidgets.Widget]:
    """Yield the widgets that a widget's state refers to."""
    to_json = ipywidgets.widget_serialization["to_json"]
    for name in widget.traits(to_json=lambda function: function is to_json):
        value = getattr(widget, name)
        held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
        yield from (part for part in held if isinstance(part, ipywidgets.Widget))
