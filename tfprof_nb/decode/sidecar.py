"""Read what the capture wrote beside a profile: ``<host>.tfprof.json.gz`` (``docs/sidecar.md``)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tfprof_nb._errors import BadProfileError
from tfprof_nb.decode.files import read
from tfprof_nb.runs import SIDECAR_VERSION, sidecar_of

T = TypeVar("T")


@dataclass(frozen=True)
class Sidecar:
    """The sections of one host's sidecar.

    Attributes
    ----------
    sections
        By name; empty where there is no sidecar, or none that can be read.
    note
        Why a sidecar that is there was not read; else empty.
    damaged
        By section: what is wrong with it, as far as sections were read.
    """

    sections: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    damaged: dict[str, str] = field(default_factory=dict)

    def read(self, name: str, reader: Callable[[Mapping[str, Any]], T]) -> T:
        """Return what a reader makes of a section; of one that is damaged, what it makes of an empty one."""
        try:
            return reader(self.sections.get(name, {}))
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            self.damaged[name] = (
                f"The section {name} of the file *.tfprof.json.gz beside the profile is damaged "
                f"({type(error).__name__}: {error}): what it held is left out."
            )
            return reader({})

    @property
    def notes(self) -> list[str]:
        """Why it was not read, what the capture noted of itself, and which of the sections read were damaged."""
        noted = self.read("capture", _capture_notes)
        return [*([self.note] if self.note else []), *noted, *self.damaged.values()]


def _capture_notes(section: Mapping[str, Any]) -> list[str]:
    notes = section.get("notes", [])
    if not isinstance(notes, list):
        raise TypeError("notes is no list")
    return [str(note) for note in notes]


def read_sidecar(file: Path) -> Sidecar:
    """Return the sidecar of a profile's file; what is wrong with it is said in its note, never raised."""
    path = sidecar_of(file)
    if not path.is_file():
        return Sidecar()
    try:
        content = json.loads(read(path))
        version, sections = content.pop("version"), content
    except (OSError, BadProfileError, ValueError, AttributeError, KeyError, RecursionError, TypeError) as error:
        return Sidecar(note=f"{path.name} beside the profile is damaged ({error}): what it held is left out.")
    if version != SIDECAR_VERSION:
        return Sidecar(
            note=f"{path.name} beside the profile was written by another version of tfprof_nb (its format is "
            f"{version}, this one reads {SIDECAR_VERSION}): what it holds is left out."
        )
    return Sidecar(sections)
