"""What each cell shows: when a cell runs again, its new views take the place of those of its last run."""

from __future__ import annotations

import sys
from typing import Any, Protocol


class Replaceable(Protocol):
    """Something shown that frees what it holds, once it is seen nowhere."""

    def close_unseen(self) -> None:
        """Close it as soon as no front end shows it."""


# By the cell's id: the message that ran it last, and what that run showed.
_shown: dict[str, tuple[str, list[Replaceable]]] = {}


def shows(view: Replaceable) -> None:
    """Note what the running cell shows, and let go of what its last run showed.

    Only for what nobody else can hold and show again. Where the front end doesn't tell cells apart, nothing happens.
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
    """Return the ids of the running cell and of the message that runs it; empty where they are not known."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return request.get("metadata", {}).get("cellId", ""), request.get("header", {}).get("msg_id", "")
