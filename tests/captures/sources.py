"""The programs that are recorded, and the text that each consists of."""

import ast
import hashlib
import importlib
from functools import cache
from pathlib import Path

from benchmarks import advice_programs
from programs import Cells

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
BENCHMARK = "benchmark"  # the programs of benchmarks/advice_programs


def names():
    """Name all programs, as ``module/program``."""
    modules = sorted(file.stem for file in PROGRAMS.glob("[a-z]*.py"))
    return [
        *(f"{module}/{name}" for module in modules for name in _statements(module).programs),
        *(f"{BENCHMARK}/{name}" for name in advice_programs.names()),
    ]


def cells_of(name):
    """Return the cells of a program that stands in a notebook; None if it is a function."""
    module, _, program = name.partition("/")
    if module == BENCHMARK:
        one = advice_programs.load(program)
        return Cells(one.setup, one.cell)
    if not _statements(module).is_text(program):
        return None
    return getattr(importlib.import_module(f"programs.{module}"), program)


def digest(name):
    """Return a hash of the text of a program, with all that it uses of its module."""
    module, _, program = name.partition("/")
    text = "\n".join(cells_of(name)) if module == BENCHMARK else _statements(module).text(program)
    return hashlib.sha256(text.encode()).hexdigest()


def environment(module):
    """Return the variables of the environment with which a module's programs run: its ``ENVIRONMENT``."""
    return {} if module == BENCHMARK else _statements(module).environment


class Statements:
    """The statements at the top level of a module of programs."""

    def __init__(self, text):
        self._text, self._all = text, ast.parse(text).body
        self._by_name = {name: one for one in self._all for name in _defined(one)}
        self.programs = [name for name, one in self._by_name.items() if self.is_text(name) or _is_marked(one)]

    @property
    def environment(self):
        one = self._by_name.get("ENVIRONMENT")
        return ast.literal_eval(one.value) if one else {}

    def is_text(self, name):
        """Whether a program is one of cells."""
        one = self._by_name.get(name)
        return isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and _name(one.value.func) == "Cells"

    def text(self, program):
        """Return a program with all statements that it uses, in their order."""
        used, new = set(), {program}
        while new:
            used |= new
            new = {name for one in new for name in _read(self._by_name[one])} & self._by_name.keys() - used
        kept = dict.fromkeys(one for one in self._all if used & set(_defined(one)))
        return "\n".join(ast.get_source_segment(self._text, one) for one in kept)


@cache
def _statements(module):
    return Statements((PROGRAMS / f"{module}.py").read_text(encoding="utf-8"))


def _defined(statement):
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(one.asname or one.name).partition(".")[0] for one in statement.names]
    return [one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]


def _read(statement):
    return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _is_marked(statement):
    decorators = getattr(statement, "decorator_list", [])
    return any(_name(one.func if isinstance(one, ast.Call) else one) == "program" for one in decorators)


def _name(node):
    return node.id if isinstance(node, ast.Name) else ""
