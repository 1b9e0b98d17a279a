"""What a statement of the program is for: to validate with, as the next batch, or to record."""

import ast
import re
from collections.abc import Iterator
from typing import Literal

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import holds, name_of, names_in

Use = Literal["validation", "batch", "record", ""]

_MODULES = ("np", "numpy", "pd", "tf", "math", "keras", "K", "scipy", "stats", "metrics")
_CONVERTS = "to_(?:tensor|dense|sparse|categorical)"  # computes a tensor, as opposed to `to_csv`
_RECORDING = re.compile(
    rf"append|extend|add|print|log|info|debug|write\w*|save\w*|(?!{_CONVERTS}\Z)to_\w+|dump|scalar|histogram|image"
)


def use_of(code: Code, file: str, line: int) -> Use:
    r"""Return what the value of a call at a line is for.

    It is ``validation`` as the data that a training validates with, ``batch`` if it is assigned and passed on in the
    same loop, ``record`` if the loop only stores, prints or writes it; empty if that is unknown: a function that is
    called for nothing else may change what it is given.

    Examples
    --------
    >>> use_of(Code({"cell": "for x in data:\n    y = load(x)\n    train(y)"}), "cell", 2)
    'batch'
    """
    statement = code.statement(file, line)
    loop = code.loop(file, line)
    if statement is None:
        return ""
    if _validates_with(statement, line):
        return "validation"
    if loop is None:
        return ""
    assigned = names_in(statement, ast.Store)
    others = [call for call in ast.walk(loop) if isinstance(call, ast.Call) and not holds(statement, call.lineno)]
    if assigned & {name for call in others if call.lineno > statement.lineno for name in names_in(call, ast.Load)}:
        return "batch"
    elsewhere = {name for part in _parts(loop) if part is not statement for name in names_in(part, ast.Load)}
    if assigned & names_in(statement, ast.Load) or (assigned | _extended_list(statement)) & elsewhere:
        return ""
    return (
        "record"
        if isinstance(statement, ast.Expr) and records(statement.value) and not _calls_methods_in(statement)
        else ""
    )


def records(node: ast.AST) -> bool:
    """Whether a part of code is a call that stores, prints or writes, by the name of what it calls."""
    return isinstance(node, ast.Call) and _RECORDING.fullmatch(name_of(node.func)) is not None


def _validates_with(statement: ast.stmt, line: int) -> bool:
    keywords = (node for node in ast.walk(statement) if isinstance(node, ast.keyword))
    return any(
        keyword.arg == "validation_data" and keyword.value.lineno <= line <= (keyword.value.end_lineno or line)
        for keyword in keywords
    )


def _parts(loop: ast.stmt) -> Iterator[ast.AST]:
    """Yield the simple statements of a loop, and the conditions and iterables of the others."""
    for node in ast.iter_child_nodes(loop):
        if isinstance(node, ast.stmt) and hasattr(node, "body"):
            yield from _parts(node)
        else:
            yield node


def _extended_list(statement: ast.stmt) -> set[str]:
    """Return the name of the list that a statement appends to."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    called = call.func if isinstance(call, ast.Call) else None
    appends = isinstance(called, ast.Attribute) and called.attr in ("append", "extend", "add")
    return names_in(called, ast.Load) if appends and called else set()


def _calls_methods_in(statement: ast.stmt) -> bool:
    """Whether what a statement stores comes from a method of an object, which may change that object."""
    outer = statement.value if isinstance(statement, ast.Expr) else None
    inner = (node for node in ast.walk(statement) if isinstance(node, ast.Call) and node is not outer)
    owners = (call.func.value for call in inner if isinstance(call.func, ast.Attribute))
    return any(not (isinstance(owner, ast.Name) and owner.id in _MODULES) for owner in owners)
