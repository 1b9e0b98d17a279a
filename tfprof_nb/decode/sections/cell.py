"""Parse the sections ``cell``, the profiled cell, ``cells``, the labels of the notebook's cells, and ``cell_texts``."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tfprof_nb._units import NS_PER_MS
from tfprof_nb.decode.host import plausible_ns
from tfprof_nb.formats.sidecar import CellSection, CellsSection


@dataclass(frozen=True, eq=False)
class Cell:
    """The profiled cell.

    Attributes
    ----------
    text
        The cell's text, starting with the magic's line; empty where no cell was captured.
    file
        The name that it was compiled as.
    times
        ``self_ms occurrences`` by line, for the lines with a statement.
    estimated
        Lines whose time is an estimate.
    first, last
        The lines that ran when the recording began and ended; 0 for none.
    began_ns, ended_ns
        When the cell began and ended, in nanoseconds since 1970; 0 if that is unknown.
    """

    text: str = ""
    file: str = ""
    times: pd.DataFrame = field(default_factory=lambda: _times([], [], []))
    estimated: tuple[int, ...] = ()
    first: int = 0
    last: int = 0
    began_ns: int = 0
    ended_ns: int = 0


def read_cell(section: CellSection | None) -> Cell:
    """Return the profiled cell."""
    if not section:
        return Cell()
    return Cell(
        str(section["text"]),
        str(section["file"]),
        _times(section.get("line", []), section.get("hits", []), section.get("spent_ns", [])),
        tuple(int(line) for line in section["estimated"]),
        int(section["first"]),
        int(section["last"]),
        plausible_ns(int(section.get("began_ns", 0))),
        plausible_ns(int(section.get("ended_ns", 0))),
    )


def read_labels(section: CellsSection | None) -> dict[str, str]:
    """Return each cell's label, such as ``In[3]``, or its text, by the name of the file that it was compiled as."""
    return {} if section is None else {str(file): str(label) for file, label in section.items()}


def _times(line: list[int], hits: list[int], spent_ns: list[int]) -> pd.DataFrame:
    """Add up the statements of each line."""
    columns = {"line": line, "hits": hits, "spent_ns": spent_ns}
    if any(number < 0 for column in columns.values() for number in column):
        raise ValueError("a line, a number of runs or a time is negative")
    statements = pd.DataFrame({name: np.array(values, dtype=np.int64) for name, values in columns.items()})
    by_line = statements.groupby("line").sum()
    return pd.DataFrame({"self_ms": by_line["spent_ns"] / NS_PER_MS, "occurrences": by_line["hits"]})
