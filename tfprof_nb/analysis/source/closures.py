"""Functions that are defined in other functions: what they take from there, and whether they leave it."""

import ast
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import holds, names_in


class Inner(NamedTuple):
    """A function in another one: the names that it takes from that one, and whether that one only uses it itself."""

    taken: list[str]
    stays: bool


def inner_function(code: Code, file: str, line: int) -> Inner | None:
    r"""Return what a function does with the one around it, given the line of its ``def``; None if there is none around.

    Examples
    --------
    >>> text = "def train(net, data):\n    def step(x):\n        return net(x)\n    for x in data:\n        step(x)"
    >>> inner_function(Code({"cell": text}), "cell", 2)
    Inner(taken=['net'], stays=True)
    >>> text = "def make(net):\n    def step(x):\n        return net(x)\n    return step"
    >>> inner_function(Code({"cell": text}), "cell", 2)
    Inner(taken=['net'], stays=False)
    """
    functions = list(code.nodes(file, ast.FunctionDef))
    inner = next((one for one in functions if one.lineno == line), None)
    around = [one for one in functions if one.lineno < line and holds(one, line)]
    if inner is None or not around:
        return None
    outer = max(around, key=lambda one: one.lineno)
    own = names_in(inner, ast.Store) | _parameters(inner)
    local = (names_in(outer, ast.Store) | _parameters(outer)) - own
    read = [one.id for one in ast.walk(inner) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    taken = [name for name in dict.fromkeys(read) if name in local]
    return Inner(taken, all(_is_called(outer, one) for one in _uses(outer, inner)))


def _parameters(function: ast.FunctionDef) -> set[str]:
    given = function.args
    return {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def _uses(outer: ast.FunctionDef, inner: ast.FunctionDef) -> list[ast.Name]:
    return [one for one in ast.walk(outer) if isinstance(one, ast.Name) and one.id == inner.name]


def _is_called(outer: ast.FunctionDef, name: ast.Name) -> bool:
    return any(isinstance(one, ast.Call) and one.func is name for one in ast.walk(outer))
