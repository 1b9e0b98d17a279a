"""A notebook cell that a trial runs: compiled, with marks in its loops, or why it cannot be repeated."""

import ast
import builtins
import linecache
import os
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.trial.state import names_in
from tfprof_nb.capture.trial.steps import COUNT_PASS, REACHED

LAST_VALUE = "__tfprof_nb_last__"
_MAGIC_CALLS = ("run_line_magic", "run_cell_magic", "system", "getoutput", "getcaller", "set_next_input")
_HARMLESS = ("time", "timeit", "matplotlib", "config", "precision", "capture")
_ASKS = ("input", "getpass", "exit", "quit", "breakpoint")
_LOOPS = (ast.For, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_ABSOLUTE = re.compile(r"(?:/[\w.-]+/|~/|[A-Za-z]:[\\/])[\w.~-]+(?:[\\/][\w. ~-]*)*")
_LONGEST_PATH = 300
_REMOTE = re.compile(r"(?:gs|s3|https?|hdfs|ftp)://\S+")


@dataclass(frozen=True)
class Variant:
    """A cell as it is or changed.

    Attributes
    ----------
    before
        Code that runs first, and does not count: cells above that are changed, too; None without any.
    code
        The cell.
    stored, made, used
        The names that it binds, those of them that it binds before it reads them, and all that it uses.
    passes
        The heads of its loops, by number.
    tells_reach
        Whether a run tells that it reached what differs between the cells.
    """

    before: CodeType | None
    code: CodeType
    stored: frozenset[str]
    made: frozenset[str]
    used: frozenset[str]
    passes: tuple[str, ...]
    tells_reach: bool = False

    @property
    def codes(self) -> list[CodeType]:
        """All code."""
        return [self.code, *([self.before] if self.before else [])]


def variant(shell: Any, name: str, before: str, text: str, line: int = 0) -> Variant:
    """Compile a cell, and cells above it, for a trial. The other cell differs at a line; 0: only above.

    Raises
    ------
    TfprofError
        If it cannot be repeated: it asks somebody, awaits, or uses magics that change what is outside.
    """
    first = _tree(shell, before) if before.strip() else None
    cell = _tree(shell, text)
    passes: list[str] = []
    stored, used = _names(cell), set[str]()
    for tree in [cell, *([first] if first else [])]:
        _check(tree, shell)
        used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    made = _made(cell) - {node.id for node in ast.walk(first) if isinstance(node, ast.Name)} if first else _made(cell)
    if cell.body and isinstance(last := cell.body[-1], ast.Expr):
        cell.body[-1] = ast.copy_location(ast.Assign([ast.Name(LAST_VALUE, ast.Store())], last.value), last)
    reached = line > 0 and _mark_reached(cell.body, line, _function_at(cell, line))
    cell.body = _marked(cell.body, passes)
    code = _compiled(shell, cell, text, name)
    return Variant(
        _compiled(shell, first, before, f"{name}, above") if first else None,
        code,
        frozenset(stored),
        made,
        frozenset(used | names_in(code)),
        tuple(passes),
        reached,
    )


def _made(cell: ast.Module) -> frozenset[str]:
    r"""Return the names that the statements of a cell assign before anything in it reads them.

    Examples
    --------
    >>> sorted(_made(ast.parse("board = Board()\nfor x in y: z = 1\ny = z = board\nn = n + 1")))
    ['board']
    """
    made, read = set[str](), set[str]()
    for statement in cell.body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        assigns = isinstance(statement, ast.Assign)
        assigned = {node.id for node in names if assigns and isinstance(node.ctx, ast.Store)}
        read |= {node.id for node in names if node.id not in assigned or isinstance(node.ctx, ast.Load)} - made
        made |= assigned - read
    return frozenset(made)


def names_of(shell: Any, text: str) -> tuple[set[str], set[str]]:
    """Return the names that a cell binds, and those that it uses; none of what is no Python."""
    try:
        tree = _tree(shell, text)
    except SyntaxError:
        return set(), set()
    return _names(tree), {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def missing(shell: Any, before: str, text: str, namespace: dict[str, Any]) -> list[str]:
    """Return the names that code needs and a namespace lacks."""
    source = "\n".join(shell.transform_cell(each) for each in (before, text) if each.strip())
    table = symtable.symtable(source, "<cell>", "exec")
    bound = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
    needed = set(_needed(table))
    return sorted(needed - bound - set(namespace) - set(dir(builtins)) - {"__file__", "__name__"})


def paths_in(texts: list[str]) -> tuple[list[str], list[str]]:
    """Return the absolute paths that code names, and that do not exist or do: it may write the first."""
    trees = [_parsed(text) for text in texts]
    parts = {  # of texts that are put together
        id(node)
        for tree in trees
        for whole in ast.walk(tree)
        if isinstance(whole, ast.JoinedStr | ast.BinOp)
        for node in ast.walk(whole)
    }
    named = {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts
    }
    paths = sorted(each for each in named if len(each) < _LONGEST_PATH and _ABSOLUTE.fullmatch(each))
    there = [each for each in paths if os.path.exists(Path(each).expanduser())]  # noqa: PTH110
    return [*(each for each in paths if each not in there), *sorted(filter(_REMOTE.fullmatch, named))], there


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


def _tree(shell: Any, text: str) -> ast.Module:
    above = len(text) - len(text.lstrip("\n"))  # errors and functions must have the right lines
    source = "\n" * above + shell.transform_cell(text)
    tree: ast.Module = shell.transform_ast(ast.parse(source))
    return tree


def _compiled(shell: Any, tree: ast.Module, text: str, name: str) -> CodeType:
    file = f"<tfprof_nb: the cell {name}>"
    lines = shell.transform_cell(text).splitlines(keepends=True)
    above = len(text) - len(text.lstrip("\n"))
    linecache.cache[file] = (len(text), None, ["\n"] * above + lines, file)  # what TensorFlow converts, it reads there
    flags = shell.compile.flags & ~ast.PyCF_ONLY_AST
    code: CodeType = compile(ast.fix_missing_locations(tree), file, "exec", flags, dont_inherit=True)
    return code


def _check(tree: ast.Module, shell: Any) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ASKS:
            raise TfprofError(f"The cell calls {node.func.id}(), so it cannot be repeated by itself.")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MAGIC_CALLS:
            _check_magic(node, shell)
    if any(map(_awaits, tree.body)):
        raise TfprofError("The cell uses await at its top level, and a trial runs cells without.")


def _check_magic(call: ast.Call, shell: Any) -> None:
    name, *given = [str(one.value) for one in call.args if isinstance(one, ast.Constant)] or [""]
    kind = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    loaded = {one.removeprefix("IPython.extensions.") for one in shell.extension_manager.loaded}
    is_loaded = name == "load_ext" and set(given) <= loaded  # then it changes nothing
    if kind.startswith("run_") and (name in _HARMLESS or is_loaded):
        return
    shown = f"!{name}" if kind in ("system", "getoutput") else f"%{name}"
    raise TfprofError(f"The cell has {shown:.60}, and nothing puts back what that changes: try a cell without it.")


def _awaits(node: ast.AST) -> bool:
    if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
        return True
    return not isinstance(node, _SCOPES) and any(map(_awaits, ast.iter_child_nodes(node)))


def _names(tree: ast.AST) -> set[str]:
    """Return the names that the statements bind, outside of functions and classes."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if isinstance(node, _SCOPES):
            found |= {node.name} if not isinstance(node, ast.Lambda) else set()
        elif not isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            found |= _names(node)
    return found


def _needed(table: symtable.SymbolTable) -> Iterator[str]:
    for one in table.get_symbols():
        if one.is_referenced() and (one.is_global() or table.get_type() == "module"):
            yield one.get_name()
    for child in table.get_children():
        yield from _needed(child)


def _function_at(tree: ast.Module, line: int) -> str:
    """Return the name of the outermost function with a line; empty if it is in none."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if first <= line <= (node.end_lineno or node.lineno):
                return node.name
    return ""


def _mark_reached(body: list[ast.stmt], line: int, function: str) -> bool:
    """Put a call that tells of it before the statements with a line, or that use a function; return whether any is."""
    found = False
    for at, statement in reversed([*enumerate(body)]):
        if isinstance(statement, _SCOPES):
            continue
        parts = [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
        blocks = [getattr(part, name, None) for part in parts for name in ("body", "orelse", "finalbody")]
        inside = [_mark_reached(block, line, function) for block in blocks if isinstance(block, list)]
        within = statement.lineno <= line <= (statement.end_lineno or statement.lineno)
        uses = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        if not any(inside) and (function in uses if function else within):
            call = ast.Call(ast.Name(COUNT_PASS, ast.Load()), [ast.Constant(REACHED)], [])
            body.insert(at, ast.copy_location(ast.Expr(call), statement))
            found = True
        found |= any(inside)
    return found


def _marked(body: list[ast.stmt], passes: list[str]) -> list[ast.stmt]:
    """Let each pass of a loop begin with a call that counts it."""
    for statement in body:
        if isinstance(statement, _SCOPES):
            continue
        for part in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            for name in ("body", "orelse", "finalbody"):
                if isinstance(inside := getattr(part, name, None), list):
                    setattr(part, name, _marked(inside, passes))
        if isinstance(statement, _LOOPS):
            head = ast.unparse(statement.test if isinstance(statement, ast.While) else statement.target)
            call = ast.Call(ast.Name(COUNT_PASS, ast.Load()), [ast.Constant(len(passes))], [])
            passes.append(head)
            statement.body.insert(0, ast.copy_location(ast.Expr(call), statement))
    return body
