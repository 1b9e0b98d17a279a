"""Parse the section ``versions``: what ran."""

from __future__ import annotations

from tfprof_nb.formats.sidecar import VersionsSection


def read_tensorflow(section: VersionsSection | None) -> str:
    """Return TensorFlow's version, empty if it is not known."""
    return "" if section is None else str(section.get("tensorflow", ""))
