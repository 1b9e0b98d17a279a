"""Compiles the text of a notebook cell and runs it, as IPython does."""

import ast
import inspect
import io
import tokenize
import warnings
from collections.abc import Sequence
from itertools import takewhile
from types import CodeType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from tfprof_nb.capture.lines import CellLines


def compiled(shell: InteractiveShell, text: str, interactivity: str, lines: CellLines | None = None) -> list[CodeType]:
    """Compile text as IPython does: first the code that is run for its effect, then the code whose value is shown.

    Parameters
    ----------
    text
        A cell, with the magics that are in it.
    interactivity
        Which statements' values to show, as the shell's ``ast_node_interactivity``.
    lines
        Marks the statements, so that they can be timed.
    """
    __tracebackhide__ = True
    source, name = _source(shell, text, shell.displayhook.prompt_count)
    body = shell.transform_ast(shell.compile.ast_parse(source, filename=name)).body
    run = len(body) - (0 if _ends_in_semicolon(source) else _count_shown(body, interactivity))
    parts = [body[:run], *([statement] for statement in body[run:])]
    if lines:
        parts = [lines.mark(part, name) for part in parts]
    trees = [(ast.Module(parts[0], []), "exec"), *((ast.Interactive(part), "single") for part in parts[1:])]
    compiler: Any = shell.compile  # typed for text alone
    with compiler.extra_flags(_awaiting(shell)):
        return [compiler(tree, name, mode) for tree, mode in trees]


def _source(shell: InteractiveShell, text: str, number: int) -> tuple[str, str]:
    """Return the cell's text as Python, and the file name under which it is compiled; ``number`` is the cell's."""
    above = len(list(takewhile(lambda line: not line.strip(), text.splitlines())))
    source = "\n" * above + shell.transform_cell(text)  # which removes empty lines; errors must name the right lines
    return source, shell.compile.cache(source, number)


def _awaiting(shell: InteractiveShell) -> int:
    """Return the compiler's flags for a cell that may await."""
    return ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if shell.autoawait else 0


def awaits(code: Sequence[CodeType]) -> bool:
    """Whether the code awaits something at its top level."""
    return any(part.co_flags & inspect.CO_COROUTINE for part in code)


def run(shell: InteractiveShell, code: Sequence[CodeType]) -> None:
    """Run code that does not await in the user's namespace."""
    __tracebackhide__ = True
    for part in code:
        exec(part, shell.user_global_ns, shell.user_ns)  # noqa: S102  (that is what a cell is for)


async def run_awaiting(shell: InteractiveShell, code: Sequence[CodeType]) -> None:
    """Run code in the user's namespace, awaiting what it awaits."""
    __tracebackhide__ = True
    for part in code:
        result = eval(part, shell.user_global_ns, shell.user_ns)  # noqa: S307
        if part.co_flags & inspect.CO_COROUTINE:
            await result


class CellOfMagic:
    """An input transformer that looks into the cell of a cell magic before the magic is called.

    If the cell uses ``await``, the shell must await the call. A syntax error must be raised here, where the shell shows
    only the line of the cell; inside the magic, it would show the magic's frames too.
    """

    def __init__(self, shell: InteractiveShell, magic: str) -> None:
        self._shell, self._magic, self._call = shell, magic, f"get_ipython().run_cell_magic({magic!r}, "

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the lines, with an ``await`` before the call if the cell uses it."""
        text = "".join(lines)
        if not text.startswith(self._call):
            return lines
        if not _cell_of(text).strip() and "--help" in text:  # IPython runs no cell magic without a cell
            return [f"get_ipython().run_line_magic({self._magic!r}, '--help')\n"]
        cell = "\n" + _cell_of(text)  # the magic's line counts too
        source, name = _source(self._shell, cell, self._shell.execution_count)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are shown when the cell is compiled to run
            code = compile(source, name, "exec", self._shell.compile.flags | _awaiting(self._shell), dont_inherit=True)
        return ["await " + text] if awaits([code]) else lines


def _cell_of(call: str) -> str:
    """Return the cell: the last argument of the call that the shell made of the magic."""
    match ast.parse(call).body:
        case [ast.Expr(ast.Call(args=[*_, ast.Constant(str(cell))]))]:
            return cell
    return ""


def _count_shown(body: list[ast.stmt], interactivity: str) -> int:
    """Count the last statements whose value the shell shows."""
    if interactivity == "all":
        return len(body)
    if interactivity == "none" or not body:
        return 0
    return int(interactivity == "last" or isinstance(body[-1], ast.Expr))


def _ends_in_semicolon(text: str) -> bool:
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER)
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in layout]
    return bool(tokens) and tokens[-1].string == ";"
