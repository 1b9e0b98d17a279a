"""Parts of Python's syntax trees: what rules on a program's text ask of them."""

import ast
import re
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS: tuple[type[Function], ...] = ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda
# What IPython understands and Python does not: a line that begins with a magic or a command, one that assigns what
# these return, and one that asks for help. A line that ends with a backslash goes on.
_MAGIC = re.compile(
    r"^([ \t]*)(?:%%?[A-Za-z]|!!?(?!=))(?:[^\n]*\\\n)*[^\n]*$|^([ \t]*)(?:[\w.]+\?\??|\?\??[\w.]+)[ \t]*$", re.MULTILINE
)
_ASSIGNED_MAGIC = re.compile(r"^([ \t]*[\w, \t]*\w[ \t]*=)[ \t]*[%!][^\n]*$", re.MULTILINE)


@lru_cache(maxsize=16)
def parsed(text: str) -> ast.Module:
    """Parse a text in which magics may stand; one that is not Python is empty."""
    try:
        return ast.parse(python_of(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


@lru_cache(maxsize=16)
def python_of(text: str) -> str:
    r"""Return a text without magics, with as many lines, and with ``pass`` where a block may have no other code.

    Examples
    --------
    >>> python_of("%matplotlib inline\nif new:\n  !pip install \\\n    keras\nfiles = !ls\nprint('%d'\n  % 3)")
    "\nif new:\n  pass\n\nfiles = None\nprint('%d'\n  % 3)"
    """
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        ast.parse(text)
        return text
    return _MAGIC.sub(_passed, _ASSIGNED_MAGIC.sub(r"\1 None", text))


def _passed(magic: re.Match[str]) -> str:
    indent = magic[1] or magic[2]
    return f"{indent}pass" * bool(indent) + "\n" * magic[0].count("\n")


def nodes_of(text: str, kind: type[Node]) -> Iterator[Node]:
    """Return the parts of a kind that a text's code has."""
    return (node for node in _nodes(text, kind.__name__) if isinstance(node, kind))


@lru_cache(maxsize=512)
def _nodes(text: str, kind: str) -> tuple[ast.AST, ...]:
    """Keep what a text has of a class of `ast`: files are asked for it again and again, at each of their lines."""
    return tuple(node for node in ast.walk(parsed(text)) if isinstance(node, getattr(ast, kind)))


def name_of(node: ast.AST) -> str:
    """Return a name, or the last part of one with dots; empty for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def end_of(node: ast.expr) -> tuple[int, int]:
    """Return the line in which an expression ends, and the offset in bytes of its end."""
    return node.end_lineno or 0, node.end_col_offset or 0


def assigned_name(statement: ast.stmt) -> str:
    """Return the only name that a statement assigns; empty if there is none."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def holds(node: ast.stmt | ast.expr, line: int) -> bool:
    """Whether a line is one of those of a statement or expression."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def span(node: ast.stmt) -> int:
    """Return how many lines a statement has below its first."""
    return (node.end_lineno or node.lineno) - node.lineno


def calls_in(node: ast.AST | None) -> Iterator[ast.Call]:
    """Return the calls in code, with one that it is itself."""
    return (part for part in ast.walk(node or ast.Pass()) if isinstance(part, ast.Call))


def chain(call: ast.Call) -> Iterator[ast.Call]:
    """Yield the calls before a method in its chain, the last one first."""
    value = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(value, ast.Call):
        yield value
        yield from chain(value)


def arguments(call: ast.Call) -> list[ast.expr]:
    """Return what a call is given, by place and by name."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def first_given(call: ast.Call | None) -> ast.expr | None:
    """Return the first argument of a call, None without one."""
    return next(iter(arguments(call) if call else ()), None)


def names_in(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """Return the names that code reads (`ast.Load`) or assigns (`ast.Store`); ``n += 1`` does both."""
    nodes = list(ast.walk(node))
    both = {one.target.id for one in nodes if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)}
    return both | {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, context)}


def stored_in(node: ast.AST) -> set[str]:
    """Return the names that a function or loop assigns, its parameters included."""
    return names_in(node, ast.Store) | {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}


def names_of_scope(function: Function) -> set[str]:
    """Return the names that are a function's own: its parameters and what it assigns, imports or defines."""
    own = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    elsewhere: set[str] = set()
    waiting: list[ast.AST] = [] if isinstance(function, ast.Lambda) else [*function.body]
    while waiting:
        one = waiting.pop()
        own |= bound_by(one)
        if isinstance(one, ast.Global | ast.Nonlocal):
            elsewhere.update(one.names)
        if not isinstance(one, (*FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(one)
    return own - elsewhere


def bound_by(node: ast.AST) -> set[str]:
    """Return the names that a node itself binds, without those of its parts."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return {name}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}
        case ast.MatchMapping(rest=str(name)):
            return {name}
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {one.asname or one.name.partition(".")[0] for one in aliases}
    return set()


def scope_of(tree: ast.Module, line: int) -> ast.AST:
    """Return the innermost function with a line in its body, or without one the module."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    holding = [one for one in functions if one.lineno < line <= (one.end_lineno or 0)]
    return max(holding, key=lambda one: one.lineno, default=tree)


def offset(text: str, line: int | None, column: int | None) -> int:
    """Return where in the bytes of a text a place is that the syntax tree names."""
    lines = text.encode().splitlines(keepends=True)[: (line or 1) - 1]
    return sum(map(len, lines)) + (column or 0)


def replaced(text: str, statement: ast.stmt, part: ast.expr, new: str) -> str:
    r"""Return the code of a statement of a text with other code in the place of a part of it.

    Examples
    --------
    >>> text = "if x:\n    y = f(1,\n          2) + 3"
    >>> statement = parsed(text).body[0].body[0]
    >>> replaced(text, statement, statement.value.left, "g(1)")
    'y = g(1) + 3'
    """
    raw, begin = text.encode(), offset(text, statement.lineno, 0)
    end = offset(text, statement.end_lineno, statement.end_col_offset)
    first, last = offset(text, part.lineno, part.col_offset), offset(text, part.end_lineno, part.end_col_offset)
    return textwrap.dedent((raw[begin:first] + new.encode() + raw[last:end]).decode()).strip()
