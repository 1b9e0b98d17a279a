"""What a finding says, judged by a program's planted fault: the cause, its place in the code, the predicted gain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from benchmarks.advice_programs import Program
from tfprof_nb.analysis.advice.catalogue import belongs_to

Finding = dict[str, Any]  # a row of the advice's table

# "cell line 4", "In[1] lines 3 to 5": cells other than the profiled one are told by their number.
_LINES = re.compile(r"(?:In ?\[(\d+)\],? |cell )?\blines? (\d+)(?:(?: to |-|–)(\d+))?")
_INPUT_BOUND = re.compile(r"(potentially|moderately|highly) input-bound", re.IGNORECASE)
_SETUP_CELL = 1


def named(program: Program, finding: Finding) -> bool:
    """Whether a finding names the fault: its cause by its rule, its place by any of its columns."""
    whole = _text(finding, "finding", "evidence", "fix", "place", "change")
    return any(belongs_to(finding["rule"], rule) for rule in program.rules) and _is_placed(program, whole)


def place_of(finding: Finding) -> str:
    """Return the place that a finding names, or else the first line that its evidence speaks of."""
    line = _LINES.search(finding["evidence"])
    return finding.get("place") or (line[0] if line else "")


def predicted(finding: Finding) -> tuple[float, float] | None:
    """Return the range of the predicted gain, in percent. An estimate without bounds is a bound itself."""
    if "gain_high_percent" in finding:
        low, high = finding["gain_low_percent"], finding["gain_high_percent"]
    else:
        low, high = 0.0, finding["estimated_gain_percent"]
    return None if low is None or high is None else (low, high)


def is_alarm(findings: list[Finding], headline: str) -> bool:
    """Whether a profile says that something should be changed."""
    return any(one["severity"] in ("high", "medium") for one in findings) or bool(_INPUT_BOUND.search(headline))


def _text(finding: Finding, *columns: str) -> str:
    return "\n".join(str(finding.get(column) or "") for column in columns)


def _is_placed(program: Program, text: str) -> bool:
    if not program.places:
        return True
    lines = set(_lines_in(text))
    return any(
        lines & _lines_of(program, place) or (place.isidentifier() and re.search(rf"\b{place}\b", text))
        for place in program.places
    )


def _lines_in(text: str) -> Iterator[tuple[bool, int]]:
    """Find the lines that a text names, as pairs: whether a line is of the setup, and its number."""
    for cell, first, last in _LINES.findall(text):
        if not cell or int(cell) == _SETUP_CELL:
            for line in range(int(first), int(last or first) + 1):
                yield bool(cell), line


def _lines_of(program: Program, place: str) -> set[tuple[bool, int]]:
    in_cell = {(False, line + 1) for line in _lines_holding(program.cell, place)}  # the magic's line counts
    return in_cell | {(True, line) for line in _lines_holding(program.setup, place)}


def _lines_holding(code: str, place: str) -> set[int]:
    """Return the lines with a piece of code, with those where their statements begin, and all of a function's."""
    piece = rf"\b{place}\b" if place.isidentifier() else re.escape(place)
    holding = {number for number, line in enumerate(code.splitlines(), 1) if re.search(piece, line)}
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.stmt):
            continue
        lines = set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == place:
            holding |= lines
        elif isinstance(node, ast.Assign | ast.Expr) and lines & holding:
            holding.add(node.lineno)
    return holding
