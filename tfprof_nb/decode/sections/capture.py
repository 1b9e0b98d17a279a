"""Parse the section ``capture``: what the capture noted about itself."""

from __future__ import annotations

from tfprof_nb.formats.sidecar import CaptureSection, Stopped


def read_notes(section: CaptureSection | None) -> list[str]:
    """Return the capture's notes."""
    notes = [] if section is None else section.get("notes", [])
    if not isinstance(notes, list):
        raise TypeError("notes is not a list")
    return [str(note) for note in notes]


def read_stopped(section: CaptureSection | None) -> Stopped | None:
    """Return why and when the recording was ended, if it was."""
    return section.get("stopped") if section else None
