"""The text of the program: what stands at a line, and where a function, a class or a call is."""

import ast
import re
from collections.abc import Iterator, Mapping

from tfprof_nb.analysis.source.syntax import (
    FUNCTIONS,
    Node,
    end_of,
    first_given,
    holds,
    name_of,
    names_of_scope,
    nodes_of,
    parsed,
    span,
)
from tfprof_nb.decode.sections.cell import NameObject, Names

_LOOPS = (ast.For, ast.While, ast.AsyncFor)


class Code:
    r"""The texts of the files and cells that ran, by the names that results give them.

    Examples
    --------
    >>> code = Code({"cell": "for x in data:\n    y = load(x)\n    train(y)"})
    >>> code.line("cell", 2), code.loop_line("cell", 2), code.line("elsewhere.py", 1)
    ('y = load(x)', (1, 'for x in data:'), '')
    """

    def __init__(self, texts: Mapping[str, str], names: Names | None = None) -> None:
        self._texts, self._names = texts, names or Names()
        cell, lines = _without_magic(texts.get("cell", ""))
        # By how many lines the profiled cell is longer at its beginning than earlier runs of it.
        self.earlier_runs = {
            name: lines - _without_magic(text)[1]
            for name, text in texts.items()
            if name.startswith("In[") and cell and _without_magic(text)[0] == cell
        }

    @property
    def files(self) -> list[str]:
        """The files and cells, the profiled cell first, then the other cells, the newest first."""
        return sorted(self._texts, key=lambda name: (name != "cell", not name.startswith("In["), -_number(name)))

    def object_of(self, file: str, expression: ast.expr) -> NameObject | None:
        r"""Return the object that a name, or one with dots, stood for when the code ran; None if that is unknown.

        Of ``self`` in a method, these are the objects of that class whose names are known.

        Examples
        --------
        >>> names = Names("", {("", "net"): NameObject("keras.Model", "model")})
        >>> code = Code({"cell": "net.fit(x)\ndef f(net):\n    net.fit(x)"}, names)
        >>> [code.object_of("cell", call.func.value) for call in code.nodes("cell", ast.Call)]
        [NameObject(type='keras.Model', kind='model', shape=None, dtype='', length=-1, file='', line=0), None]
        """
        return self.object_at(file, expression.lineno, expression)

    def object_at(self, file: str, line: int, expression: ast.expr) -> NameObject | None:
        """Return the object that an expression, as for `object_of`, would stand for at a line."""
        first, _, rest = ast.unparse(expression).partition(".")
        if not all(part.isidentifier() for part in (first, *filter(None, rest.split(".")))):
            return None
        objects, main = self._names.objects, self._names.main
        owner = self.class_at(file, line)
        if first in ("self", "cls") and owner:
            holders = [name for (at, name), one in objects.items() if at == main and _class(one) == owner]
            found = {objects.get((main, f"{name}.{rest}")) for name in holders}
            return found.pop() if len(found) == 1 else None
        if first in self.own_names(file, line):
            return None
        return self.global_object(file, f"{first}.{rest}" if rest else first)

    def global_object(self, file: str, name: str) -> NameObject | None:
        """Return the object of a name of a file, outside of its functions; None if that is unknown."""
        own_file = self._names.main if file == "cell" or file.startswith("In[") else file
        return self._names.objects.get((own_file, name))

    def own_names(self, file: str, line: int) -> set[str]:
        """Return the names that belong to the functions with a line in their body, and not to the whole file."""
        functions = (node for kind in FUNCTIONS for node in self.nodes(file, kind))
        return {name for one in functions if one.lineno < line and holds(one, line) for name in names_of_scope(one)}

    def nodes(self, file: str, kind: type[Node]) -> Iterator[Node]:
        """Return the parts of a kind that a file's code has."""
        return nodes_of(self._texts.get(file, ""), kind)

    def at(self, place: str) -> str:
        """Return the text of the line at a place, as `place_of` writes it; empty if it is unknown."""
        return self.line(*line_at(place))

    def of_this_run(self, told: str) -> str:
        r"""Return a text in which places of the profiled cell, as it ran before, are those of the profiled cell.

        Examples
        --------
        >>> code = Code({"cell": "%%tfprofile\nx = 1\nf(x)", "In[2]": "x = 1\nf(x)"})
        >>> code.of_this_run("f (In[2] line 2)")
        'f (cell line 3)'
        """
        for name, more in self.earlier_runs.items():
            parts = re.split(rf"(?<!\w){re.escape(name)} line (\d+)", told)
            parts[1::2] = [place_of("cell", int(line) + more) for line in parts[1::2]]
            told = "".join(parts)
        return told

    def line(self, file: str, line: int) -> str:
        """Return the text of a line; empty if it is unknown."""
        lines = self.text(file).splitlines()
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def text(self, file: str) -> str:
        """Return the text of a file; empty if it is unknown."""
        return self._texts.get(file, "")

    def syntax(self, file: str) -> ast.Module:
        """Return the syntax tree of a file; an empty one if it is unknown."""
        return parsed(self._texts.get(file, ""))

    def definition(self, file: str, function: str) -> int:
        """Return the line with the ``def`` of a function, given its qualified name; 0 if it is unknown."""
        name = function.rpartition(".")[2]
        lines = [node.lineno for node in self.nodes(file, ast.FunctionDef) if node.name == name]
        return lines[0] if len(lines) == 1 else 0

    def outer(self, file: str, line: int) -> str:
        r"""Return the name of the function in which a ``def`` stands, but not in a loop of it; empty without one.

        Examples
        --------
        >>> code = Code({"cell": "def make():\n    def step(x):\n        return x\n    return step"})
        >>> code.outer("cell", 2), code.outer("cell", 1)
        ('make', '')
        """
        functions = self.nodes(file, ast.FunctionDef)
        around = min((one for one in functions if one.lineno < line and holds(one, line)), key=span, default=None)
        loop = self.loop(file, line)
        if around is None or (loop and loop.lineno > around.lineno) or not self.function_at(file, line):
            return ""
        return around.name

    def method(self, name: str) -> tuple[str, int, list[str]]:
        """Return the file, the line of the ``def`` and the parameters of a method ``Class.method``; 0 if unknown."""
        owner, _, method = name.rpartition(".")
        file, found = self._method(owner, method) or ("", None)
        return (file, found.lineno, [one.arg for one in found.args.args]) if found else ("", 0, [])

    def function(self, file: str, line: int) -> ast.FunctionDef | None:
        """Return the innermost function with a line; that of a ``def`` is its own."""
        holding = [node for node in self.nodes(file, ast.FunctionDef) if holds(node, line)]
        return min(holding, key=span, default=None)

    def function_at(self, file: str, line: int) -> ast.FunctionDef | None:
        """Return the function whose ``def`` stands at a line."""
        return next((node for node in self.nodes(file, ast.FunctionDef) if node.lineno == line), None)

    def class_at(self, file: str, line: int) -> str:
        """Return the name of the innermost class with a line; empty if there is none."""
        holding = [node for node in self.nodes(file, ast.ClassDef) if holds(node, line)]
        return min(holding, key=span).name if holding else ""

    def place(self, found: tuple[str, int] | None) -> str:
        """Write what `find` found as users read it; empty for nothing."""
        return place_of(*found) if found else ""

    def place_with(self, pattern: str) -> str:
        """Return the first place in which a regular expression is found, as users read it; empty if there is none."""
        return self.place(next(self.find(pattern), None))

    def find(self, pattern: str) -> Iterator[tuple[str, int]]:
        r"""Return the files and lines, the profiled cell's first, in which a regular expression is found.

        Lines of docstrings are left out, and what stands behind a ``#``.

        Examples
        --------
        >>> code = Code({"cell": 'def f(x):\n    "With x.batch(8)."\n    return x.batch(8)  # not x.batch(9)'})
        >>> list(code.find(r"\.batch\("))
        [('cell', 3)]
        """
        for file in self.files:
            if file in self.earlier_runs:
                continue
            texts = [node for node in self.nodes(file, ast.Expr) if isinstance(node.value, ast.Constant)]
            for number, text in enumerate(self._texts[file].splitlines(), 1):
                if re.search(pattern, text.partition("#")[0]) and not any(holds(node, number) for node in texts):
                    yield file, number

    def argument(self, file: str, line: int, function: str) -> str:
        """Return the first argument of the call of a function at a line, as it stands there; empty if there is none."""
        value = first_given(self.call_at(file, line, function))
        return ast.unparse(value) if value else ""

    def takes_keywords(self, file: str, name: str) -> bool:
        """Whether the ``__init__`` of a class of the program takes any keyword."""
        classes = [node for node in self.nodes(file, ast.ClassDef) if node.name == name]
        inits = [statement for found in classes for statement in found.body if isinstance(statement, ast.FunctionDef)]
        own = [one for one in inits if one.name == "__init__"]
        return bool(classes) and all(one.args.kwarg is not None for one in own)

    def owner(self, file: str, line: int, method: str) -> str:
        r"""Return what a method is called on at a line; empty if that is not one thing.

        Examples
        --------
        >>> Code({"cell": "y = float(nets[0].predict(x)[0])"}).owner("cell", 1, "predict")
        'nets[0]'
        """
        functions = [call.func for call in self.nodes(file, ast.Call) if end_of(call.func)[0] == line]
        owners = {ast.unparse(one.value) for one in functions if isinstance(one, ast.Attribute) and one.attr == method}
        return owners.pop() if len(owners) == 1 else ""

    def loop_line(self, file: str, line: int) -> tuple[int, str]:
        """Return the line of the innermost loop in which a line stands, and its text; 0 without one."""
        loop = self.loop(file, line)
        return (loop.lineno, self.line(file, loop.lineno)) if loop else (0, "")

    def dataset_classes(self) -> list[str]:
        r"""Return the classes of the program that are datasets of Keras: a ``PyDataset`` or ``Sequence``.

        Examples
        --------
        >>> Code({"cell": "class Rows(Sequence): ...\nclass Flipped(Rows): ..."}).dataset_classes()
        ['Rows', 'Flipped']
        """
        classes = [node for file in self.files for node in self.nodes(file, ast.ClassDef)]
        found: list[str] = []
        known = {"PyDataset", "Sequence"}
        while new := [one.name for one in classes if one.name not in known and known & set(map(name_of, one.bases))]:
            found += new
            known.update(new)
        return found

    def in_loop(self, file: str, line: int) -> bool:
        """Whether a line stands in a loop."""
        return self.loop(file, line) is not None

    def statement(self, file: str, line: int) -> ast.stmt | None:
        """Return the innermost statement with a line."""
        holding = [node for node in self.nodes(file, ast.stmt) if holds(node, line)]
        return min(holding, key=span, default=None)

    def loop(self, file: str, line: int) -> ast.stmt | None:
        """Return the innermost loop with a line in its body."""
        loops = [node for kind in _LOOPS for node in self.nodes(file, kind)]
        return min((loop for loop in loops if holds(loop, line) and loop.lineno < line), key=span, default=None)

    def call(self, file: str, line: int, function: str) -> str:
        r"""Return how a method is called at a line, without its object; empty if there is no such single call.

        Examples
        --------
        >>> Code({"cell": "data = files.map(read).batch(8)"}).call("cell", 1, "batch")
        '.batch(8)'
        """
        found = self.call_at(file, line, function)
        given = found and ", ".join(map(ast.unparse, [*found.args, *found.keywords]))
        return f".{function}({given})" if found else ""

    def defined(self, file: str, function: ast.expr) -> tuple[str, ast.FunctionDef] | None:
        """Return the file and definition of a function, or of a method of that name; None if there is not one such."""
        elsewhere = [(other, node) for other in self.files if other != file for node in self._named(other, function)]
        found = [(file, node) for node in self._named(file, function)] or elsewhere
        return found[0] if len(found) == 1 else None

    def called(self, file: str, call: ast.Call) -> tuple[str, ast.FunctionDef] | None:
        r"""Return the file and definition of the program's function, or method, that a call runs; None if it is unsure.

        A call of an object, such as a model, runs the ``call`` or ``__call__`` of its class.

        Examples
        --------
        >>> text = "class Net(Layer):\n    def call(self, x):\n        return self.turn(x)\n    def turn(self, x): ..."
        >>> names = Names("", {("", "net"): NameObject("Net", "layer")})
        >>> code = Code({"cell": text + "\ny = net(x).turn(x)"}, names)
        >>> sorted(found[1].name for call in code.nodes("cell", ast.Call) if (found := code.called("cell", call)))
        ['call', 'turn']
        """
        function = call.func
        if isinstance(function, ast.Name) and (found := self.defined(file, function)):
            return None if self.class_at(found[0], found[1].lineno) else found
        if isinstance(function, ast.Attribute):
            itself = isinstance(function.value, ast.Name) and function.value.id in ("self", "cls")
            owner = self.class_at(file, call.lineno) if itself else _class(self.object_of(file, function.value))
            if owner and (found := self._method(owner, function.attr)):
                return found
        owner = _class(self.object_of(file, function))
        return self._method(owner, "call") or self._method(owner, "__call__") if owner else None

    def _method(self, owner: str, name: str) -> tuple[str, ast.FunctionDef] | None:
        """Return the file and definition of a method of a class of the program, or of one that it extends."""
        classes = [owner]
        for owned in classes:  # the list grows meanwhile
            for file in self.files:
                for one in (node for node in self.nodes(file, ast.ClassDef) if node.name == owned):
                    own = (node for node in one.body if isinstance(node, ast.FunctionDef) and node.name == name)
                    if found := next(own, None):
                        return file, found
                    classes += [base for base in map(name_of, one.bases) if base not in classes]
        return None

    def _named(self, file: str, function: ast.expr) -> list[ast.FunctionDef]:
        functions = self.nodes(file, ast.FunctionDef)
        return [node for node in functions if node.name == name_of(function)]

    def call_at(self, file: str, line: int, function: str) -> ast.Call | None:
        """Return the only call of a function whose name stands at a line."""
        found = [
            node
            for node in self.nodes(file, ast.Call)
            if end_of(node.func)[0] == line and name_of(node.func) == function
        ]
        return found[0] if len(found) == 1 else None

    def calls(self, file: str, line: int, *functions: str) -> list[ast.Call]:
        """Return the calls that a line is part of: those of some functions, or all."""
        called = (node for node in self.nodes(file, ast.Call) if not functions or name_of(node.func) in functions)
        return [call for call in called if holds(call, line)]

    def block(self, file: str, statement: ast.stmt) -> list[ast.stmt]:
        """Return the statements of the block in which a statement stands."""
        nodes = ast.walk(self.syntax(file))
        blocks = (getattr(node, field, None) for node in nodes for field in ("body", "orelse", "finalbody"))
        return next((block for block in blocks if isinstance(block, list) and statement in block), [])


def _class(found: NameObject | None) -> str:
    return found.type.rpartition(".")[2] if found and found.kind != "class" else ""


def _without_magic(cell: str) -> tuple[str, int]:
    """Return the code of a cell, and how many lines stand before it."""
    code = re.sub(r"^%%.*\n", "\n", cell).lstrip("\n")
    return code.rstrip(), cell.count("\n") - code.count("\n")


def _number(cell: str) -> int:
    """Return the number of a cell, as in ``In[3]``; 0 for files."""
    number = cell.removeprefix("In[").rstrip("]")
    return int(number) if number.isdigit() else 0


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
