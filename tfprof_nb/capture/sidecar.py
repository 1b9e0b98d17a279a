"""What a profile's file cannot hold, recorded beside the profiler: one file per host, ``<host>.tfprof.json.gz``.

It is a JSON object: ``version``, and a section per collector. ``docs/sidecar.md`` describes the sections. A profile
without it is a whole profile; only what the sections add is absent then.
"""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tfprof_nb.formats.files import XSPACE, sidecar_of
from tfprof_nb.formats.sidecar import VERSION

Gather = Callable[[], Any]
"""Returns a section, of what JSON can hold; called once, after the collector was closed."""

Collector = AbstractContextManager[Gather]
"""Something that records while it is open, beside the profiler; opened and closed in whatever thread."""


def gathered(sections: Mapping[str, Gather]) -> dict[str, Any]:
    """Return the sections that are not empty.

    One that fails is left out with a warning: a profile is never lost for it.
    """
    return {name: section for name, gather in sections.items() if (section := _gathered(name, gather))}


def write_sidecar(run: Path, sections: Mapping[str, Any]) -> None:
    """Write the sections beside the profile of each host of a run; nothing, if there are none."""
    if not sections:
        return
    for file in run.glob(f"*{XSPACE}"):
        write(sidecar_of(file), sections)


def write(path: Path, sections: Mapping[str, Any]) -> None:
    """Write sections as a sidecar; the same sections give the same bytes."""
    text = json.dumps({"version": VERSION, **sections}, separators=(",", ":"), allow_nan=False)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=6, mtime=0))


def _gathered(name: str, gather: Gather) -> Any:
    try:
        section = gather()
        json.dumps(section, allow_nan=False)
    except Exception as error:  # noqa: BLE001  (whatever it is, the profile must not suffer)
        warnings.warn(f"The profile has no {name}: {type(error).__name__}: {error}", stacklevel=6)
        return None
    return section
