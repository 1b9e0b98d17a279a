"""``Repeats``: the profiles of a cell that ran several times, as ``%%tfprofile NAME --repeat 5`` makes them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from tfprof_nb.analysis.compare.repeats import Repeated, repeats
from tfprof_nb.profiles import Profile
from tfprof_nb.render.content import Content
from tfprof_nb.views import repeats as view

if TYPE_CHECKING:
    from tfprof_nb.render.view import View


class Repeats(list[Profile]):
    """A list of profiles of the same program, which `compare` takes, and which shows how far they differ.

    Attributes
    ----------
    table
        A row per run: ``name time_ms step_ms other_load_percent``.
    summary
        ``runs``, ``time_of`` (``example``, ``batch``, ``step`` or ``capture``), ``time_ms`` (the median),
        ``time_ms_min``, ``time_ms_max``, ``range_percent``.
    """

    @cached_property
    def _result(self) -> Repeated:
        return repeats([profile.measured for profile in self])

    @property
    def table(self) -> pd.DataFrame:
        """A row per run."""
        return self._result.table

    @property
    def summary(self) -> dict[str, Any]:
        """Headline numbers by name."""
        return self._result.summary

    @property
    def notes(self) -> list[str]:
        """What is missing or estimated."""
        return self._result.notes

    def content(self, *, static: bool = False) -> Content:
        """Return what is shown below the cell."""
        return Content(", ".join(profile.name for profile in self), view.panels(self._result), static=static)

    def view(self) -> View:
        """Return the widget that shows the runs."""
        return self.content().view()

    def _ipython_display_(self) -> None:
        self.content().show()

    def __str__(self) -> str:
        return str(self.content())
