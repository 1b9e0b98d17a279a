"""What every analysis returns: a table, headline numbers, and notes on what is missing or estimated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

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
    # Results know nothing of views: who makes a result may say how to show it. The function returns a `Content`.
    _show: Callable[[], Any] | None = field(default=None, init=False, repr=False)

    def shown_by(self, show: Callable[[], Any]) -> Self:
        """Let the result show itself: ``show`` returns its content."""
        self._show = show
        return self

    def view(self) -> Any:
        """Return the widget that shows this result."""
        return self._content().view()

    def _content(self) -> Any:
        if self._show is None:
            raise TypeError(f"{type(self).__name__} has no view of its own: take it from a Profile (p.ops).")
        return self._show()

    def _ipython_display_(self) -> None:
        self._content()._ipython_display_()

    def _repr_html_(self) -> str | None:
        html: str | None = self._content()._repr_html_() if self._show else None
        return html

    def __str__(self) -> str:
        return str(self._show()) if self._show else repr(self)
