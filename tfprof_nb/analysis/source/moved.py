"""Statements moved out of the function that runs them each time, in code."""

import ast
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import holds, names_in


class Moved(NamedTuple):
    """The line where a definition begins, its decorators included, and its code behind what was moved out of it."""

    line: int
    change: str


def moved_out(code: Code, file: str, lines: Sequence[int]) -> Moved | None:
    r"""Return the function that assigns at some lines with these assignments before it.

    None where they are no assignments of one function's own block, need a value that the function makes, or the
    function is a method, whose class they would end in.

    Examples
    --------
    >>> text = "@tf.function\ndef step(x):\n    k = inv(points)\n    return k @ x"
    >>> print(moved_out(Code({"cell": text}), "cell", [3]).change)
    k = inv(points)
    <BLANKLINE>
    @tf.function
    def step(x):
        return k @ x
    """
    functions = [node for node in code.nodes(file, ast.FunctionDef) if all(holds(node, line) for line in lines)]
    function = max(functions, key=lambda node: node.lineno, default=None)
    if function is None or not lines or any(function in owner.body for owner in code.nodes(file, ast.ClassDef)):
        return None
    moved = [one for one in function.body if any(holds(one, line) for line in lines)]
    left = [one for one in function.body if one not in moved]
    made = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    made |= {name for one in left for name in names_in(one, ast.Store)}
    used = {name for one in moved for name in names_in(one, ast.Load)}
    is_whole = sum(any(holds(one, line) for one in moved) for line in lines) == len(lines)
    if not left or not is_whole or used & made or not all(isinstance(one, ast.Assign) for one in moved):
        return None
    text, begin = code.text(file).splitlines(), min([one.lineno for one in function.decorator_list], default=10**9)
    begin, end = min(begin, function.lineno), function.end_lineno or function.lineno
    taken = {number for one in moved for number in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
    if any(one.lineno in taken for one in left):
        return None
    rest = textwrap.dedent("\n".join(text[n - 1] for n in range(begin, end + 1) if n not in taken))
    outside = textwrap.dedent("\n".join(text[n - 1] for n in sorted(taken)))
    return Moved(begin, f"{outside}\n\n{rest}")
