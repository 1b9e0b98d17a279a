"""What every analysis returns: a table, headline numbers, and notes on what is missing or estimated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd


def empty_table(types: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table without rows whose columns have the types that they have with rows."""
    return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in types.items()})


@dataclass(eq=False)
class Result:
    """The result of one analysis.

    Attributes
    ----------
    table
        The main rows; units are in the column names.
    summary
        Headline numbers by name.
    notes
        Why something is empty, estimated, inferred or cut.
    """

    table: pd.DataFrame
    summary: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    # Returns what to show, a `Content`. Set by the profile: results know nothing of views.
    show: Callable[[], Any] | None = field(default=None, repr=False)

    def view(self) -> Any:
        """Return the widget that shows this result."""
        return self._content().view()

    def _content(self) -> Any:
        if self.show is None:
            raise TypeError(f"{type(self).__name__} has no view of its own: take it from a Profile (p.ops).")
        return self.show()

    def _ipython_display_(self) -> None:
        self._content()._ipython_display_()

    def __str__(self) -> str:
        return str(self.show()) if self.show else repr(self)
