"""A cell's text to code, and running it, as IPython would do both."""

from __future__ import annotations

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
    """Compile text as IPython would: what is run for its effect, then what is run to show its value.

    Parameters
    ----------
    shell
        Where it is to run.
    text
        A cell, with the magics that are in it.
    interactivity
        Which statements' values to show, as the shell's ``ast_node_interactivity``.
    lines
        What marks its statements, if anything does.
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
    """Return the text of the cell of this number as Python, and the name of the file that it is compiled as."""
    above = len(list(takewhile(lambda line: not line.strip(), text.splitlines())))
    source = "\n" * above + shell.transform_cell(text)  # it takes empty lines away; errors are to name the right ones
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

    The shell is to await the call where the cell awaits. And what is no Python is to fail here, where the shell shows
    the cell's line alone; of an error inside the magic it would show how it got there.
    """

    def __init__(self, shell: InteractiveShell, magic: str) -> None:
        self._shell, self._call = shell, f"get_ipython().run_cell_magic({magic!r}, "

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the lines, with an ``await`` before the call where that is needed."""
        text = "".join(lines)
        if not text.startswith(self._call):
            return lines
        cell = "\n" + _cell_of(text)  # the magic's line counts too
        source, name = _source(self._shell, cell, self._shell.execution_count)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they come when it is compiled to run
            code = compile(source, name, "exec", self._shell.compile.flags | _awaiting(self._shell), dont_inherit=True)
        return ["await " + text] if awaits([code]) else lines


def _cell_of(call: str) -> str:
    """Return the last argument of the call that a cell magic became."""
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
