"""Parse the section ``capture``: what the capture noted about itself."""

from tfprof_nb.formats.sidecar import CaptureSection, Stopped

_MOST_S = 10**7  # some months


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
