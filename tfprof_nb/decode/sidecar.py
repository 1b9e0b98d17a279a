"""Read what the capture wrote beside a profile: ``<host>.tfprof.json.gz`` (``docs/sidecar.md``)."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfprof_nb.runs import SIDECAR_VERSION, sidecar_of


@dataclass(frozen=True)
class Sidecar:
    """The sections of one host's sidecar.

    Attributes
    ----------
    sections
        By name; empty where there is no sidecar, or none that can be read.
    note
        Why a sidecar that is there was not read; else empty.
    """

    sections: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def notes(self) -> list[str]:
        """Why it was not read, and what the capture noted of itself."""
        return [*([self.note] if self.note else []), *self.sections.get("capture", {}).get("notes", [])]


def read_sidecar(file: Path) -> Sidecar:
    """Return the sidecar of a profile's file; what is wrong with it is said in its note, never raised."""
    path = sidecar_of(file)
    if not path.is_file():
        return Sidecar()
    try:
        content = json.loads(gzip.decompress(path.read_bytes()))
        version, sections = content.pop("version"), content
    except (OSError, EOFError, zlib.error, ValueError, AttributeError, KeyError, TypeError) as error:
        return Sidecar(note=f"{path.name} beside the profile is damaged ({error}): what it held is left out.")
    if version != SIDECAR_VERSION:
        return Sidecar(
            note=f"{path.name} beside the profile was written by another version of tfprof_nb (its format is "
            f"{version}, this one reads {SIDECAR_VERSION}): what it holds is left out."
        )
    return Sidecar(sections)
