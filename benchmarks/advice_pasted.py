"""Paste the code of a finding into a program, as a person would: in the place of the line that it names."""

from __future__ import annotations

import ast
import re
import textwrap

from benchmarks.advice_judgement import Finding
from benchmarks.advice_programs import Program

_PLACE = re.compile(r"(cell|In\[1\]) line (\d+)")
_MOST_LINES = 20  # of a call that is replaced


def pasted(program: Program, finding: Finding) -> tuple[str, str] | None:
    """Return the setup and the cell with a finding's change in them; None if it has none, or one for elsewhere."""
    place = _PLACE.fullmatch(finding.get("place") or "")
    if not place or not finding.get("change"):
        return None
    line = int(place[2])
    if place[1] == "cell":  # whose first line is the magic
        return program.setup, replaced(program.cell, line - 1, finding["change"])
    return replaced(program.setup, line, finding["change"]), program.cell


def replaced(text: str, line: int, change: str) -> str:
    r"""Put code in the place of a line, or of the lines of the call that begins there: the fewest that give Python.

    Raises
    ------
    ValueError
        If no number of lines does.

    Examples
    --------
    >>> replaced("f(\n  1,\n  2,\n)\ng()", 1, "f(\n  1\n)")
    'f(\n  1\n)\ng()'
    >>> replaced("@jit\ndef f():\n    k = g()\n    return k\nf()", 1, "k = g()\n@jit\ndef f():\n    return k")
    'k = g()\n@jit\ndef f():\n    return k\nf()'
    """
    lines = text.splitlines()
    whole = _definition(text, line, change)
    indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
    new = textwrap.indent(change, indent).splitlines()
    for count in [whole] if whole else range(1, _MOST_LINES):
        candidate = "\n".join([*lines[: line - 1], *new, *lines[line - 1 + count :]])
        try:
            ast.parse(candidate)
        except SyntaxError:
            continue
        return candidate
    raise ValueError(f"This is no Python in line {line}: {change}")


def _definition(text: str, line: int, change: str) -> int:
    """Return the number of lines of the function that begins at a line, if the change has all of it; else 0."""
    try:
        changed = {node.name for node in ast.walk(ast.parse(change)) if isinstance(node, ast.FunctionDef)}
    except SyntaxError:
        return 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name in changed:
            begin = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if begin == line:
                return (node.end_lineno or node.lineno) - begin + 1
    return 0
