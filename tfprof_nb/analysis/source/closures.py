"""Functions that are defined in other functions: what they take from there, and whether they leave it."""

import ast
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import calls_in, names_in, scope_of


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
    inner, outer = code.function_at(file, line), scope_of(code.syntax(file), line)
    if inner is None or not isinstance(outer, ast.FunctionDef):
        return None
    own = names_in(inner, ast.Store) | _parameters(inner)
    local = (names_in(outer, ast.Store) | _parameters(outer)) - own
    read = [one.id for one in ast.walk(inner) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    taken = [name for name in dict.fromkeys(read) if name in local]
    called = [call.func for call in calls_in(outer)]
    uses = (one for one in ast.walk(outer) if isinstance(one, ast.Name) and one.id == inner.name)
    return Inner(taken, all(use in called for use in uses))


def _parameters(function: ast.FunctionDef) -> set[str]:
    given = function.args
    return {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
