"""The text of the program: what stands at a line, where a function begins, and what a statement is for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal, TypeVar

Use = Literal["validation", "batch", "record", ""]

_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
Node = TypeVar("Node", bound=ast.AST)


class Code:
    r"""The texts of the files and cells that ran, by the names that results give them.

    Examples
    --------
    >>> code = Code({"cell": "for x in data:\n    y = load(x)\n    train(y)"})
    >>> code.line("cell", 2), code.use("cell", 2), code.line("elsewhere.py", 1)
    ('y = load(x)', 'batch', '')
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def at(self, place: str) -> str:
        """Return the text of the line at a place, as `place_of` writes it; empty if it is unknown."""
        return self.line(*line_at(place))

    def line(self, file: str, line: int) -> str:
        """Return the text of a line; empty if it is unknown."""
        lines = self._texts.get(file, "").splitlines()
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def definition(self, file: str, function: str) -> int:
        """Return the line with the ``def`` of a function, given its qualified name; 0 if it is unknown."""
        name = function.rpartition(".")[2]
        lines = [node.lineno for node in _nodes(self._texts.get(file, ""), ast.FunctionDef) if node.name == name]
        return lines[0] if len(lines) == 1 else 0

    def parameters(self, function: str) -> list[str]:
        """Return the names of the parameters of a method, given as ``Class.method``; none if it is unknown."""
        name, _, method = function.rpartition(".")
        classes = [node for text in self._texts.values() for node in _nodes(text, ast.ClassDef) if node.name == name]
        methods = [one for found in classes for one in found.body if isinstance(one, ast.FunctionDef)]
        return next(([a.arg for a in one.args.args] for one in methods if one.name == method), [])

    def find(self, pattern: str) -> Iterator[tuple[str, int]]:
        """Return the files and lines, the profiled cell's first, in which a regular expression is found."""
        for file in sorted(self._texts, key=lambda name: name != "cell"):
            for number, text in enumerate(self._texts[file].splitlines(), 1):
                if re.search(pattern, text.partition("#")[0]):
                    yield file, number

    def with_argument(self, file: str, line: int, function: str, argument: str) -> str:
        r"""Return a line with an argument added to the call of a function in it; empty if the call is not that plain.

        Examples
        --------
        >>> Code({"cell": "model.fit(Images(paths), epochs=2)"}).with_argument("cell", 1, "Images", "workers=4")
        'model.fit(Images(paths, workers=4), epochs=2)'
        """
        calls = [
            node
            for node in _nodes(self._texts.get(file, ""), ast.Call)
            if node.lineno == node.end_lineno == line and _name(node.func) == function
        ]
        if len(calls) != 1 or not calls[0].end_col_offset:
            return ""
        text, end = self._texts[file].splitlines()[line - 1], calls[0].end_col_offset - 1
        comma = ", " if calls[0].args or calls[0].keywords else ""
        return f"{text[:end]}{comma}{argument}{text[end:]}".strip()

    def takes_keywords(self, file: str, name: str) -> bool:
        """Whether the ``__init__`` of a class of the program takes any keyword."""
        classes = [node for node in _nodes(self._texts.get(file, ""), ast.ClassDef) if node.name == name]
        inits = [one for found in classes for one in found.body if isinstance(one, ast.FunctionDef)]
        own = [one for one in inits if one.name == "__init__"]
        return bool(classes) and all(one.args.kwarg is not None for one in own)

    def use(self, file: str, line: int) -> Use:
        """Return what the value of a call at a line is for.

        It is ``validation`` as the data that a training validates with, ``batch`` if it is assigned and passed on in
        the same loop, ``record`` if nothing else in the loop reads it; empty if that is unknown.
        """
        statement = self._statement(file, line)
        loop = self._loop(file, line)
        if statement is None:
            return ""
        if _validates_with(statement, line):
            return "validation"
        if loop is None:
            return ""
        assigned = _names_assigned(statement)
        rest = [one for one in ast.walk(loop) if isinstance(one, ast.Call) and one.lineno > statement.lineno]
        read = {name.id for call in rest for name in ast.walk(call) if isinstance(name, ast.Name)}
        return "batch" if assigned & read else "record"

    def in_loop(self, file: str, line: int) -> bool:
        """Whether a line stands in a loop."""
        return self._loop(file, line) is not None

    def _statement(self, file: str, line: int) -> ast.stmt | None:
        """Return the innermost statement with a line."""
        holding = [node for node in _nodes(self._texts.get(file, ""), ast.stmt) if _holds(node, line)]
        return min(holding, key=_lines, default=None)

    def _loop(self, file: str, line: int) -> ast.stmt | None:
        """Return the innermost loop with a line in its body."""
        loops = [node for kind in _LOOPS for node in _nodes(self._texts.get(file, ""), kind)]
        return min((loop for loop in loops if _holds(loop, line) and loop.lineno < line), key=_lines, default=None)


def place_of(file: str, line: int) -> str:
    """Write a place as users read it.

    Examples
    --------
    >>> place_of("cell", 3), line_at("In[1] line 12"), line_at("")
    ('cell line 3', ('In[1]', 12), ('', 0))
    """
    return f"{file} line {line}"


def line_at(place: str) -> tuple[str, int]:
    """Return the file and the line of a place that `place_of` wrote; 0 is no line."""
    file, _, line = place.rpartition(" line ")
    return file, int(line) if line.isdigit() else 0


@lru_cache(maxsize=16)
def _tree(text: str) -> ast.Module:
    """Parse a text in which magics may stand; one that is not Python is empty."""
    try:
        return ast.parse(_MAGIC.sub("", text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _nodes(text: str, kind: type[Node]) -> Iterator[Node]:
    return (node for node in ast.walk(_tree(text)) if isinstance(node, kind))


def _name(function: ast.expr) -> str:
    """Return the last part of the name that is called."""
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno


def _validates_with(statement: ast.stmt, line: int) -> bool:
    keywords = (node for node in ast.walk(statement) if isinstance(node, ast.keyword))
    return any(
        keyword.arg == "validation_data" and keyword.value.lineno <= line <= (keyword.value.end_lineno or line)
        for keyword in keywords
    )


def _names_assigned(statement: ast.stmt) -> set[str]:
    stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in stored if isinstance(node.ctx, ast.Store)}
