"""The label of a run folder: what a capture is called, what it found, and which files of the folder are its own."""

import json
from pathlib import Path
from typing import TypedDict, cast

LABEL = "tfprof.label.json"

_MOST_BYTES = 1 << 20
_TYPES = {"name": str, "verdict": str, "steps": int, "notebook": str, "files": list}


class Label(TypedDict, total=False):
    """A run's label.

    Attributes
    ----------
    name
        What the user called the profile.
    verdict, steps
        What it showed, if it was shown.
    notebook
        Which notebook made it: a number that does not tell its path.
    files
        The names of the files that the capture wrote.
    """

    name: str
    verdict: str
    steps: int
    notebook: str
    files: list[str]


def read_label(run: Path) -> Label:
    """Return the label of a run folder; empty if it has none that can be read."""
    file = run / LABEL
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:  # a pipe would never end
            return Label()
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return Label()
    known = found.items() if isinstance(found, dict) else ()
    return cast("Label", {key: value for key, value in known if isinstance(value, _TYPES.get(key, ()))})


def write_label(run: Path, label: Label) -> None:
    """Write the label of a run folder."""
    (run / LABEL).write_text(json.dumps(label), encoding="utf-8")


def copy_label(run: Path, copy: Path) -> None:
    """Label a copy of a run; the copy belongs to no notebook, so that none removes it."""
    label = read_label(run)
    if kept := Label(**{key: label[key] for key in ("name", "verdict", "steps") if key in label}):  # type: ignore[typeddict-item]
        write_label(copy, kept)
