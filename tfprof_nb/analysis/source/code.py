"""The text of the program: what stands at a line, where a function begins, and what a statement is for."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal, TypeGuard, TypeVar

Use = Literal["validation", "batch", "record", ""]

_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_OF_DATASETS = re.compile(
    r"apply|batch|bucket_by_sequence_length|cache|concatenate|enumerate|filter|flat_map|group_by_window|interleave|map|"
    r"padded_batch|prefetch|ragged_batch|rebatch|repeat|scan|shard|shuffle|skip|take|take_while|unbatch|unique|window|"
    r"with_options|zip"
)
_MODULES = ("np", "numpy", "pd", "tf", "math", "keras", "K", "scipy", "stats", "metrics")
_RECORDING = re.compile(r"append|extend|add|print|log|info|debug|write\w*|save\w*|to_\w+|dump|scalar|histogram|image")
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
        lines = self._lines(file)
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def definition(self, file: str, function: str) -> int:
        """Return the line with the ``def`` of a function, given its qualified name; 0 if it is unknown."""
        name = function.rpartition(".")[2]
        lines = [node.lineno for node in _nodes(self._texts.get(file, ""), ast.FunctionDef) if node.name == name]
        return lines[0] if len(lines) == 1 else 0

    def method(self, name: str) -> tuple[str, int, list[str]]:
        """Return the file, the line of the ``def`` and the parameters of a method ``Class.method``; 0 if unknown."""
        owner, _, method = name.rpartition(".")
        for file, text in self._texts.items():
            for found in (node for node in _nodes(text, ast.ClassDef) if node.name == owner):
                for one in found.body:
                    if isinstance(one, ast.FunctionDef) and one.name == method:
                        return file, one.lineno, [argument.arg for argument in one.args.args]
        return "", 0, []

    def place(self, found: tuple[str, int] | None) -> str:
        """Write what `find` found as users read it; empty for nothing."""
        return place_of(*found) if found else ""

    def find(self, pattern: str) -> Iterator[tuple[str, int]]:
        """Return the files and lines, the profiled cell's first, in which a regular expression is found."""
        for file in sorted(self._texts, key=lambda name: name != "cell"):
            for number, text in enumerate(self._texts[file].splitlines(), 1):
                if re.search(pattern, text.partition("#")[0]):
                    yield file, number

    def argument(self, file: str, line: int, function: str) -> str:
        """Return the first argument of the call of a function at a line, as it stands there; empty if there is none."""
        call = self._call(file, line, function)
        value = call.args[0] if call and call.args else call.keywords[0].value if call and call.keywords else None
        return ast.unparse(value) if value else ""

    def with_argument(self, file: str, line: int, function: str, argument: str) -> str:
        r"""Return the lines of the call of a function with an argument more; empty if there is no such single call.

        Examples
        --------
        >>> Code({"cell": "model.fit(Images(paths), epochs=2)"}).with_argument("cell", 1, "Images", "workers=4")
        'model.fit(Images(paths, workers=4), epochs=2)'
        """
        call = self._call(file, line, function)
        if call is None:
            return ""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        closing = _end(call)[0], _end(call)[1] - 1
        behind = max(map(_end, given), default=closing)
        # Behind the last argument, unless that stands in parentheses, which have no place in the syntax tree.
        at = behind if self._between(file, behind, closing).strip(" \n,") == "" else closing
        comma = ", " if given and not self._between(file, (1, 0), at).rstrip().endswith(",") else ""
        return self._inserted(file, call, comma + argument, at)

    def with_call(self, file: str, line: int, function: str, call: str) -> str:
        r"""Return the lines of the call of a function with another call behind; empty if there is no such single call.

        Examples
        --------
        >>> Code({"cell": "data = files.map(read).batch(8)"}).with_call("cell", 1, "map", ".cache()")
        'data = files.map(read).cache().batch(8)'
        """
        found = self._call(file, line, function)
        return self._inserted(file, found, call, _end(found)) if found else ""

    def without_argument(self, file: str, line: int, keyword: str) -> tuple[int, str]:
        r"""Return where the call begins that gives a keyword at a line, and its lines without that; 0 if there is none.

        Examples
        --------
        >>> Code({"cell": "model.compile(\n    'sgd',\n    jit=True,\n)"}).without_argument("cell", 3, "jit")
        (1, "model.compile(\n    'sgd',\n)")
        """
        for call in _nodes(self._texts.get(file, ""), ast.Call):
            given = [*call.args, *(each.value for each in call.keywords)]
            for each in call.keywords:
                if each.arg == keyword and each.lineno == line:
                    begin = each.lineno, each.col_offset
                    behind = [_end(value) for value in given if _end(value) < begin]
                    places = ((one.lineno, one.col_offset) for one in call.keywords)
                    following = min((place for place in places if place > begin), default=None)
                    left_out = (max(behind), _end(each.value)) if behind else (begin, following or _end(each.value))
                    return _end(call.func)[0], self._inserted(file, call, "", *left_out)
        return 0, ""

    def end_of_pipeline(self, file: str, line: int) -> tuple[int, str]:
        r"""Return the line that ends the chain of calls of which a line is part, and what it calls last.

        A chain goes on where its value is assigned to a name, and the same block assigns that name again.

        Examples
        --------
        >>> code = Code({"cell": "ds = files.map(read)\nds = ds.batch(8)\nmodel.fit(ds.map(f), epochs=2)"})
        >>> code.end_of_pipeline("cell", 1), code.end_of_pipeline("cell", 3), code.end_of_pipeline("cell", 4)
        ((2, 'batch'), (3, 'map'), (0, ''))
        """
        statement = self._statement(file, line)
        holding = [node for node in ast.walk(statement or ast.Pass()) if _extends(node) and _holds(node, line)]
        if statement is None or not holding:
            return 0, ""
        end = max(holding, key=_end)
        name = _assigned_name(statement)
        later = [one for one in self._block(file, statement) if name and one.lineno > statement.lineno]
        for one in later:
            if isinstance(one, ast.Assign) and _assigned_name(one) == name and _extends(one.value):
                end = one.value
        return _end(end.func)[0], _name(end.func)

    def takes_keywords(self, file: str, name: str) -> bool:
        """Whether the ``__init__`` of a class of the program takes any keyword."""
        classes = [node for node in _nodes(self._texts.get(file, ""), ast.ClassDef) if node.name == name]
        inits = [one for found in classes for one in found.body if isinstance(one, ast.FunctionDef)]
        own = [one for one in inits if one.name == "__init__"]
        return bool(classes) and all(one.args.kwarg is not None for one in own)

    def use(self, file: str, line: int) -> Use:
        """Return what the value of a call at a line is for.

        It is ``validation`` as the data that a training validates with, ``batch`` if it is assigned and passed on in
        the same loop, ``record`` if the loop only stores, prints or writes it; empty if that is unknown: a function
        that is called for nothing else may change what it is given.
        """
        statement = self._statement(file, line)
        loop = self._loop(file, line)
        if statement is None:
            return ""
        if _validates_with(statement, line):
            return "validation"
        if loop is None:
            return ""
        assigned = _names(statement, ast.Store)
        others = [one for one in ast.walk(loop) if isinstance(one, ast.Call) and not _holds(statement, one.lineno)]
        if assigned & {name for call in others if call.lineno > statement.lineno for name in _names(call, ast.Load)}:
            return "batch"
        elsewhere = {name for part in _parts(loop) if part is not statement for name in _names(part, ast.Load)}
        if assigned & _names(statement, ast.Load) or (assigned | _extended_list(statement)) & elsewhere:
            return ""
        return "record" if _records(statement) and not _calls_methods_in(statement) else ""

    def guard(self, file: str, line: int) -> tuple[int, str]:
        r"""Return the line of the condition that lets a line run only every few times, and its text; 0 without one.

        Examples
        --------
        >>> Code({"cell": "for i in n:\n    if i % 4 == 0:\n        save()"}).guard("cell", 3)
        (2, 'if i % 4 == 0:')
        """
        found = [
            node
            for node in _nodes(self._texts.get(file, ""), ast.If)
            if node.lineno < line and _holds(node, line) and _names_remainder(node.test)
        ]
        innermost = min(found, key=_lines, default=None)
        return (innermost.lineno, self.line(file, innermost.lineno)) if innermost else (0, "")

    def uses_values(self, file: str, line: int) -> str:
        """Return the first code that cannot be traced in a function, given the line of its ``def``: it needs values."""
        functions = [node for node in _nodes(self._texts.get(file, ""), ast.FunctionDef) if node.lineno == line]
        for node in ast.walk(functions[0]) if functions else ():
            if isinstance(node, ast.Attribute) and (node.attr == "numpy" or _is_numpy(node.value)):
                return ast.unparse(node)
            if isinstance(node, ast.Call) and _name(node.func) in ("float", "int") and isinstance(node.func, ast.Name):
                return f"{node.func.id}()"
        return ""

    def called_itself(self, file: str, line: int, method: str) -> str:
        r"""Return a line in which a model is called instead of its method; empty if the call is not that plain.

        Examples
        --------
        >>> Code({"cell": "p = net.predict(x[None], verbose=0)[0]"}).called_itself("cell", 1, "predict")
        'p = net(x[None], training=False).numpy()[0]'
        """
        call = self._call(file, line, method)
        keywords = {keyword.arg for keyword in call.keywords} if call else set()
        if (
            call is None
            or len(call.args) != 1
            or call.lineno != call.end_lineno
            or keywords - {"verbose", "batch_size"}
        ):
            return ""
        given = self._between(file, (call.args[0].lineno, call.args[0].col_offset), _end(call.args[0]))
        model = self._between(file, (call.lineno, call.col_offset), _end(call.func)).rpartition(".")[0]
        before = self._between(file, (line, 0), (line, call.col_offset))
        rest = self._lines(file)[line - 1].encode()[_end(call)[1] :].decode()
        return f"{before}{model}({given}, training=False).numpy(){rest}".strip()

    def in_loop(self, file: str, line: int) -> bool:
        """Whether a line stands in a loop."""
        return self._loop(file, line) is not None

    def _lines(self, file: str) -> list[str]:
        return self._texts.get(file, "").splitlines()

    def _call(self, file: str, line: int, function: str) -> ast.Call | None:
        """Return the only call of a function whose name stands at a line."""
        found = [
            node
            for node in _nodes(self._texts.get(file, ""), ast.Call)
            if _end(node.func)[0] == line and _name(node.func) == function
        ]
        return found[0] if len(found) == 1 else None

    def _between(self, file: str, begin: tuple[int, int], end: tuple[int, int]) -> str:
        """Return the text between two places, given as lines and offsets in bytes."""
        lines = [line.encode() for line in self._lines(file)[begin[0] - 1 : end[0]]]
        lines[-1] = lines[-1][: end[1]]
        lines[0] = lines[0][begin[1] :]
        return b"\n".join(lines).decode()

    def _inserted(
        self, file: str, call: ast.Call, text: str, at: tuple[int, int], until: tuple[int, int] | None = None
    ) -> str:
        """Return the lines from a call's name to its end, with a text inserted, or in the place of what is there."""
        first, last = _end(call.func)[0], _end(call)[0]
        rest = self._lines(file)[last - 1].encode()[_end(call)[1] :].decode()
        block = self._between(file, (first, 0), at) + text + self._between(file, until or at, _end(call)) + rest
        return textwrap.dedent(block).strip()

    def _block(self, file: str, statement: ast.stmt) -> list[ast.stmt]:
        """Return the statements of the block in which a statement stands."""
        nodes = ast.walk(_tree(self._texts.get(file, "")))
        blocks = (getattr(node, field, None) for node in nodes for field in ("body", "orelse", "finalbody"))
        return next((block for block in blocks if isinstance(block, list) and statement in block), [])

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


def _end(node: ast.expr) -> tuple[int, int]:
    """Return the line in which an expression ends, and the offset in bytes of its end."""
    return node.end_lineno or 0, node.end_col_offset or 0


def _extends(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether an expression is a call that makes a dataset of another one."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _OF_DATASETS.fullmatch(node.func.attr) is not None
    )


def _assigned_name(statement: ast.stmt) -> str:
    """Return the only name that a statement assigns; empty if there is none."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _holds(node: ast.stmt | ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno


def _validates_with(statement: ast.stmt, line: int) -> bool:
    keywords = (node for node in ast.walk(statement) if isinstance(node, ast.keyword))
    return any(
        keyword.arg == "validation_data" and keyword.value.lineno <= line <= (keyword.value.end_lineno or line)
        for keyword in keywords
    )


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """Return the names that code reads (`ast.Load`) or assigns (`ast.Store`); ``n += 1`` does both."""
    nodes = list(ast.walk(node))
    both = {one.target.id for one in nodes if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)}
    return both | {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, context)}


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
    return _names(called, ast.Load) if appends and called else set()


def _records(statement: ast.stmt) -> bool:
    """Whether a statement is a call that stores, prints or writes."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and _RECORDING.fullmatch(_name(call.func)) is not None


def _calls_methods_in(statement: ast.stmt) -> bool:
    """Whether what a statement stores comes from a method of an object, which may change that object."""
    outer = statement.value if isinstance(statement, ast.Expr) else None
    inner = (node for node in ast.walk(statement) if isinstance(node, ast.Call) and node is not outer)
    owners = (call.func.value for call in inner if isinstance(call.func, ast.Attribute))
    return any(not (isinstance(owner, ast.Name) and owner.id in _MODULES) for owner in owners)


def _names_remainder(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test))


def _is_numpy(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in ("np", "numpy")
