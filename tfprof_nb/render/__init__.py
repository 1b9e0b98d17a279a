"""Panels in, pictures out: widgets, static HTML and text of the same drawing vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof_nb.render.page import page

if TYPE_CHECKING:
    from tfprof_nb.render.view import View

__all__ = ["View", "page"]


def __getattr__(name: str) -> Any:
    """Load :class:`View`, and the widget libraries with it, when it is first asked for."""
    if name == "View":
        from tfprof_nb.render.view import View

        return View
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
