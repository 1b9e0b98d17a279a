"""Paste the code of a finding into a program, as a person would: in the place of the line that it names."""

from __future__ import annotations

import re

from benchmarks.advice_judgement import Finding
from benchmarks.advice_programs import Program
from tfprof_nb.analysis.source.changed_text import changed_text

_PLACE = re.compile(r"(cell|In\[1\]) line (\d+)")
_MAGIC = "%%tfprofile\n"


def pasted(program: Program, finding: Finding) -> tuple[str, str] | None:
    """Return the setup and the cell with a finding's change in them; None if it has none, or one for elsewhere.

    Raises
    ------
    ValueError
        If the change has no place there.
    """
    place = _PLACE.fullmatch(finding.get("place") or "")
    if not place or not finding.get("change"):
        return None
    line, change = int(place[2]), finding["change"]
    if place[1] == "cell":  # whose first line is the magic
        return program.setup, _changed(_MAGIC + program.cell, line, change).removeprefix(_MAGIC)
    return _changed(program.setup, line, change), program.cell


def _changed(text: str, line: int, change: str) -> str:
    changed = changed_text(text, line, change)
    if changed.why_not:
        raise ValueError(f"{changed.why_not}: {change}")
    return changed.text
