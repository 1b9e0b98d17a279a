"""The history of a notebook's training cells, as lines of JSON: one for each time that a cell ran."""

import json
import math
import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

WATCHED_CELLS = "watched_cells.jsonl"
_MAX_LINES, _MAX_BYTES = 300, 64 << 20


class Interval(NamedTuple):
    """What happened in one interval of a cell's time.

    Attributes
    ----------
    ended_s
        When it ended, from the cell's beginning.
    steps, step_ms, waiting_ms
        How many steps ended in it, a typical one, and how much of that waited for data.
    memory_bytes
        What the process held at its end.
    other_processors
        How many processors other programs kept busy; None where the system does not tell.
    """

    ended_s: float
    steps: int
    step_ms: float
    waiting_ms: float
    memory_bytes: int
    other_processors: float | None


@dataclass
class WatchedCell:
    """One run of a training cell.

    Attributes
    ----------
    cell, text
        Its label, such as ``In[3]``, and its text.
    began
        In seconds since 1970.
    seconds
        How long it ran.
    batch
        The examples in a step; 0 where they are unknown.
    tells_waits
        Whether it is known how long steps waited.
    versions
        Of TensorFlow and Keras.
    intervals
        Its time, in intervals that grow with it.
    """

    cell: str
    text: str
    began: float
    seconds: float
    batch: int
    tells_waits: bool
    versions: dict[str, str] = field(default_factory=dict)
    intervals: list[Interval] = field(default_factory=list)


def append_cell(folder: Path, cell: WatchedCell) -> None:
    """Add a run to the history in a folder, which is made if it is not there.

    Raises
    ------
    OSError
        It cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    line = json.dumps(vars(cell))
    with (folder / WATCHED_CELLS).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def read_cells(folder: Path, most: int = _MAX_LINES) -> tuple[list[WatchedCell], int]:
    """Return the newest runs of the history in a folder, oldest first, and how many of their lines are damaged."""
    try:
        with (folder / WATCHED_CELLS).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _MAX_BYTES))
            lines = file.read().splitlines()[-most:]
    except OSError:
        return [], 0
    cells = [cell for cell in map(_read, lines) if cell]
    return cells, len(lines) - len(cells)


def _read(line: bytes) -> WatchedCell | None:
    """Read one line; None if it is damaged, as where a process ended while it wrote."""
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        content = json.loads(line)
        cell = WatchedCell(**content | {"intervals": [Interval(*row) for row in content["intervals"]]})
        numbers = [cell.began, cell.seconds, cell.batch, *(one or 0 for each in cell.intervals for one in each)]
        if all(map(math.isfinite, numbers)):
            return replace(cell, cell=str(cell.cell), text=str(cell.text), versions=dict(cell.versions))
    return None
