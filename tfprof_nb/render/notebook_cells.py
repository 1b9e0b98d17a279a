"""The views of each notebook cell: when a cell runs again, the views of its last run are closed."""

import sys
from typing import Any, Protocol


class Replaceable(Protocol):
    """A view that can be closed once it is no longer visible."""

    def close_unseen(self) -> None:
        """Close it as soon as no front end shows it."""


# By the notebook cell's id: the id of the message that ran it last, and the views of that run.
_shown: dict[str, tuple[str, list[Replaceable]]] = {}


def shows(view: Replaceable) -> None:
    """Record a view of the running notebook cell, and close the views of the cell's last run.

    Only for views that nobody else can hold and show again. Does nothing if the front end sends no ids of cells.
    """
    cell, run = _running()
    if not cell:
        return
    last_run, views = _shown.get(cell, (run, []))
    earlier = views if run != last_run else []
    _shown[cell] = run, [*views[len(earlier) :], view]
    for replaced in earlier:
        replaced.close_unseen()


def _running() -> tuple[str, str]:
    """Return the ids of the running notebook cell and of the message that runs it; empty if unknown."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return request.get("metadata", {}).get("cellId", ""), request.get("header", {}).get("msg_id", "")
