"""Parse the sections on code: ``cell``, the profiled cell, ``cells``, ``cell_texts`` and ``names``, what names are."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tfprof_nb._units import NS_PER_MS
from tfprof_nb.decode.host import plausible_ns
from tfprof_nb.formats.sidecar import CellSection, CellsSection, NameFacts, NamesSection

CHANGED = "changed"  # the kind of a name that stands for another kind of object at the end


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
    columns = {"line": line, "hits": hits, "spent_ns": spent_ns}
    if any(number < 0 for column in columns.values() for number in column):
        raise ValueError("a line, a number of runs or a time is negative")
    statements = pd.DataFrame({name: np.array(values, dtype=np.int64) for name, values in columns.items()})
    by_line = statements.groupby("line").sum()
    return pd.DataFrame({"self_ms": by_line["spent_ns"] / NS_PER_MS, "occurrences": by_line["hits"]})


@dataclass(frozen=True)
class NameObject:
    """The object of a name.

    Attributes
    ----------
    type
        Its class, with the module; of a class itself its name, of a module the module's.
    kind
        What it is to TensorFlow, Keras, NumPy or Python, such as ``model``, ``array`` or ``function``; ``changed`` if
        it was another kind of object when the recording ended.
    shape, dtype
        Of arrays and tensors, if known.
    length
        Of lists, tuples, texts, sets and dictionaries; -1 if unknown.
    file, line
        Where a function is defined, by the name that Python knows the file by.
    """

    type: str
    kind: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    length: int = -1
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Names:
    """Objects by the file of their namespace and name; the file of the profiled code's own namespace is ``main``."""

    main: str = ""
    objects: Mapping[tuple[str, str], NameObject] = field(default_factory=dict)


def read_names(section: NamesSection | None) -> Names:
    """Return the objects of names."""
    if not section:
        return Names()
    objects = {(one["file"], one["name"]): _object(one) for one in section["start"]}
    for one in section["end"]:
        key, after = (one["file"], one["name"]), _object(one)
        differs = key in objects and objects[key].kind != after.kind
        objects[key] = NameObject(after.type, CHANGED) if differs else after
    return Names(section["main"], objects)


def _object(facts: NameFacts) -> NameObject:
    shape = facts.get("shape")
    return NameObject(
        facts["type"],
        facts["kind"],
        None if shape is None else tuple(shape),
        facts.get("dtype", ""),
        facts.get("length", -1),
        facts.get("defined_in", ""),
        facts.get("line", 0),
    )
