"""Read the sidecar, ``<host>.tfprof.json.gz``, which the capture wrote beside a profile (``docs/sidecar.md``)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tfprof_nb._errors import BadProfileError
from tfprof_nb.decode.files import read
from tfprof_nb.decode.typed import check
from tfprof_nb.formats.files import SIDECAR, sidecar_of
from tfprof_nb.formats.sidecar import SECTIONS, VERSION, CaptureSection, Section, Stopped

T = TypeVar("T")
_MOST_S = 10**7  # some months


@dataclass(frozen=True)
class Sidecar:
    """The sections of one host's sidecar.

    Attributes
    ----------
    sections
        The sections by name; empty if there is no sidecar, or it cannot be read.
    note
        Why an existing sidecar was not read, or empty.
    damaged
        What is wrong with a section, by its name, for sections that were parsed.
    """

    sections: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    damaged: dict[str, str] = field(default_factory=dict)

    def read(self, name: str, parse: Callable[[Any], T]) -> T:
        """Parse a section; if it is damaged, note that and parse None, as for a section that is missing."""
        try:
            section = self.sections.get(name)
            if section is not None:
                check(section, SECTIONS[Section(name)], name)
            return parse(section)
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            self.damaged[name] = (
                f"The section {name} of the file *{SIDECAR} beside the profile is damaged ({type(error).__name__}: "
                f"{error}). Its content is missing here."
            )
            return parse(None)

    @property
    def notes(self) -> list[str]:
        """Why it was not read, the capture's own notes, and which of the parsed sections are damaged."""
        noted = self.read(Section.CAPTURE, read_notes)
        return [*([self.note] if self.note else []), *noted, *self.damaged.values()]


def read_sidecar(file: Path) -> Sidecar:
    """Return the sidecar of a profile's file. If it cannot be read, its note says why; no error is raised."""
    path = sidecar_of(file)
    if not path.is_file():
        return Sidecar()
    try:
        content = json.loads(read(path))
        version, sections = content.pop("version"), content
    except (OSError, BadProfileError, ValueError, AttributeError, KeyError, RecursionError, TypeError) as error:
        return Sidecar(note=f"{path.name} beside the profile is damaged ({error}). Its content is missing here.")
    if version != VERSION:
        return Sidecar(
            note=f"{path.name} beside the profile was written by another version of tfprof_nb (its format is "
            f"{version}, this version reads {VERSION}). Its content is missing here."
        )
    return Sidecar(sections)


def read_notes(section: CaptureSection | None) -> list[str]:
    """Return the capture's notes."""
    notes = [] if section is None else section.get("notes", [])
    if not isinstance(notes, list):
        raise TypeError("notes is not a list")
    return [str(note) for note in notes]


def read_stopped(section: CaptureSection | None) -> Stopped | None:
    """Return why and when the recording was ended, if it was."""
    stopped = section.get("stopped") if section else None
    if stopped and not 0 <= stopped["seconds"] < _MOST_S:
        raise ValueError("stopped.seconds is no length of a recording")
    return stopped
