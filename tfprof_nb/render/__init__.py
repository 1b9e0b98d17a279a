"""Draws panels as widgets, as static HTML and as text."""

from typing import TYPE_CHECKING, Any

from tfprof_nb.render.report import html_report

if TYPE_CHECKING:
    from tfprof_nb.render.view import View

__all__ = ["View", "html_report"]


def __getattr__(name: str) -> Any:
    """Load `View`, and with it the widget libraries, on first use."""
    if name == "View":
        from tfprof_nb.render.view import View

        return View
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
