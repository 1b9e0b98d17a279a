"""What keeps a function of the program from running as a graph."""

from __future__ import annotations

import ast

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import name_of
from tfprof_nb.analysis.source.uses import records


def uses_values(code: Code, file: str, line: int) -> str:
    """Return the first code that cannot be traced in a function, given the line of its ``def``: it needs values."""
    functions = [node for node in code.nodes(file, ast.FunctionDef) if node.lineno == line]
    for node in ast.walk(functions[0]) if functions else ():
        if isinstance(node, ast.Attribute) and (node.attr == "numpy" or _is_numpy(node.value)):
            return ast.unparse(node)
        if isinstance(node, ast.Call) and name_of(node.func) in ("float", "int") and isinstance(node.func, ast.Name):
            return f"{node.func.id}()"
    return ""


def has_effects(code: Code, file: str, line: int) -> bool:
    r"""Whether the function that begins at a line prints, or changes what outlives it: a graph would do it once.

    Examples
    --------
    >>> code = Code({"cell": "def f(x):\n    seen.append(x)\ndef g(x):\n    y = x * 2\n    return y"})
    >>> has_effects(code, "cell", 1), has_effects(code, "cell", 3)
    (True, False)
    """
    functions = (one for one in code.nodes(file, ast.FunctionDef) if one.lineno == line)
    return any(_has_effect(node) for function in functions for node in ast.walk(function))


def _has_effect(node: ast.AST) -> bool:
    if isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom):
        return True
    if isinstance(node, ast.Attribute | ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return records(node)


def _is_numpy(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in ("np", "numpy")
