"""Write the sidecar, ``<host>.tfprof.json.gz``: what is recorded beside the profiler and its file cannot hold.

It has one section per collector (`formats.sidecar`, ``docs/sidecar.md``). A profile is complete without a sidecar; it
only lacks what the sections add.
"""

import gzip
import json
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Generic, TypeVar

from tfprof_nb.formats.files import XSPACE, sidecar_of
from tfprof_nb.formats.sidecar import VERSION

T = TypeVar("T", bound=Hashable)

Gather = Callable[[], Any]
"""Returns a section, as JSON can hold it. Called once, after the collector was closed."""

Collector = AbstractContextManager[Gather]
"""Records while it is open, beside the profiler. Any thread may open and close it."""


def gathered(sections: Mapping[str, Gather]) -> dict[str, Any]:
    """Return the sections that are not empty.

    If a section fails, it is left out with a warning: the profile is kept.
    """
    return {name: section for name, gather in sections.items() if (section := _gathered(name, gather))}


def write_sidecar(run: Path, sections: Mapping[str, Any]) -> None:
    """Write the sections beside the profile of each host of a run, if there are any."""
    if not sections:
        return
    for file in run.glob(f"*{XSPACE}"):
        write(sidecar_of(file), sections)


def write(path: Path, sections: Mapping[str, Any]) -> None:
    """Write sections as a sidecar. The same sections give the same bytes."""
    text = json.dumps({"version": VERSION, **sections}, separators=(",", ":"), allow_nan=False)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=6, mtime=0))


def _gathered(name: str, gather: Gather) -> Any:
    try:
        section = gather()
        json.dumps(section, allow_nan=False)
    except Exception as error:  # noqa: BLE001  (whatever fails, the profile must be kept)
        warnings.warn(f"The profile has no {name}: {type(error).__name__}: {error}", stacklevel=6)
        return None
    return section


class Interned(Generic[T]):
    """Numbers distinct values from 0, in the order of their first occurrence."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}

    def number(self, value: T) -> int:
        """Return the value's number."""
        return self._numbers.setdefault(value, len(self._numbers))

    def numbers(self, values: Iterable[T]) -> list[int]:
        """Return the number of each value."""
        return [self.number(value) for value in values]

    def values(self) -> list[T]:
        """Return the values in the order of their numbers."""
        return list(self._numbers)
