"""Conditions on the remainder of a division, which let code run only every few times."""

import ast

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import holds, span


def guard_of(code: Code, file: str, line: int) -> tuple[int, str]:
    r"""Return the line of the condition that lets a line run only every few times, and its text; 0 without one.

    Examples
    --------
    >>> guard_of(Code({"cell": "for i in n:\n    if i % 4 == 0:\n        save()"}), "cell", 3)
    (2, 'if i % 4 == 0:')
    """
    found = [
        node
        for node in code.nodes(file, ast.If)
        if node.lineno < line and holds(node, line) and _names_remainder(node.test)
    ]
    innermost = min(found, key=span, default=None)
    return (innermost.lineno, code.line(file, innermost.lineno)) if innermost else (0, "")


def guard_in(code: Code, file: str, line: int) -> tuple[int, str]:
    r"""Return the first condition on a remainder in the function that begins at a line, and its text; 0 without.

    Examples
    --------
    >>> guard_in(Code({"cell": "def f(batch):\n    if batch % 4:\n        return\n    save()"}), "cell", 1)
    (2, 'if batch % 4:')
    """
    function = code.function_at(file, line)
    found = (node for node in ast.walk(function or ast.Pass()) if isinstance(node, ast.If))
    first = next((node for node in found if _names_remainder(node.test)), None)
    return (first.lineno, code.line(file, first.lineno)) if first else (0, "")


def divisor_of(code: Code, file: str, line: int) -> str:
    r"""Return what the condition at a line takes the remainder of a division by; empty if there is none.

    Examples
    --------
    >>> divisor_of(Code({"cell": "if step % args.save_every == 0:\n    save()"}), "cell", 1)
    'args.save_every'
    """
    conditions = (node.test for node in code.nodes(file, ast.If) if node.lineno == line)
    parts = (part for condition in conditions for part in ast.walk(condition) if isinstance(part, ast.BinOp))
    return next((ast.unparse(part.right) for part in parts if isinstance(part.op, ast.Mod)), "")


def _names_remainder(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test))
