"""A cell's text to code, and running it, as IPython would do both."""

from __future__ import annotations

import ast
import inspect
import io
import tokenize
from collections.abc import Sequence
from contextlib import suppress
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
    above = len(list(takewhile(lambda line: not line.strip(), text.splitlines())))
    source = "\n" * above + shell.transform_cell(text)  # it takes empty lines away; errors are to name the right ones
    name = shell.compile.cache(source, shell.displayhook.prompt_count)
    body = shell.transform_ast(shell.compile.ast_parse(source, filename=name)).body
    run = len(body) - (0 if _ends_in_semicolon(source) else _count_shown(body, interactivity))
    parts = [body[:run], *([statement] for statement in body[run:])]
    if lines:
        parts = [lines.mark(part, name) for part in parts]
    trees = [(ast.Module(parts[0], []), "exec"), *((ast.Interactive(part), "single") for part in parts[1:])]
    compiler: Any = shell.compile  # typed for text alone
    with compiler.extra_flags(ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if shell.autoawait else 0):
        return [compiler(tree, name, mode) for tree, mode in trees]


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


class AwaitedMagic:
    """An input transformer: lets the shell await the call of a cell magic whose cell awaits."""

    def __init__(self, shell: InteractiveShell, magic: str) -> None:
        self._shell, self._call = shell, f"get_ipython().run_cell_magic({magic!r}, "

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the lines with an ``await`` before the call, if they are such a call."""
        text = "".join(lines)
        if self._shell.autoawait and text.startswith(self._call):
            with suppress(SyntaxError):
                cell = self._shell.transform_cell(_cell_of(text))
                if self._shell.should_run_async(cell, transformed_cell=cell):
                    return ["await " + text]
        return lines


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
