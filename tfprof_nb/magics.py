"""The magics: ``%%tfprofile`` profiles a cell, ``%tfprofile`` a statement, ``%tfprofile_load`` opens a profile."""
# mypy: disable-error-code="no-untyped-call, untyped-decorator"
# (IPython's magic_arguments has no types.)

from __future__ import annotations

import argparse
import ast
import io
import keyword
import sys
import threading
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from types import CodeType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from tfprof_nb.profiles import Profile, load
from tfprof_nb.session import profile
from tfprof_nb.views.dashboard import check_pages

SAVING_NOTE_S = 1.0  # saving that takes longer is announced


def _variable(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be the name of a variable")
    return text


def _views(text: str) -> list[str]:
    try:
        return check_pages([name.strip() for name in text.split(",")])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _path(text: str) -> Path:
    return Path(text.strip("\"'")).expanduser()


@magics_class
class TfprofMagics(Magics):
    """The magics of tfprof_nb."""

    shell: InteractiveShell

    @no_var_expand
    @magic_arguments()
    @argument("name", nargs="?", type=_variable, metavar="NAME", help="Variable that gets the profile.")
    @argument("--host-level", type=int, choices=range(4), default=2, help="Detail on the host (default 2).")
    @argument("--device-level", type=int, choices=range(2), default=1, help="0 leaves out GPUs and TPUs (default 1).")
    @argument("--python-level", type=int, choices=range(2), default=0, help="1 traces Python calls (default 0).")
    @argument("--out", type=_path, metavar="DIR", help="Folder for the profile's files (default tfprof_logs).")
    @argument("--views", type=_views, metavar="VIEW,VIEW", help="Pages to show, e.g. overview,memory (default all).")
    @argument("--static", action="store_true", help="Show the profile as plain HTML, without widgets.")
    @argument("--quiet", action="store_true", help="Show nothing under the cell.")
    @line_cell_magic
    def tfprofile(self, line: str, cell: str | None = None) -> Profile | None:
        """Profile a cell (%%tfprofile) or a statement (%tfprofile).

        A cell runs as it would without the magic: its output, its Out[n] and its errors are its own. The profile
        is shown below it, and is in NAME where that is given, and in tfprof_nb.last().

        Examples::

            %%tfprofile baseline
            model.fit(data, epochs=2)

            %tfprofile model.predict(x)
        """
        __tracebackhide__ = True
        if cell is None:
            return self._profile_statement(line)
        self._profile_cell(parse_argstring(self.tfprofile, line), cell)
        return None

    def _profile_statement(self, statement: str) -> Profile:
        __tracebackhide__ = True
        if not statement or statement.startswith("--"):
            raise UsageError("%tfprofile takes one statement; options go with the cell form, %%tfprofile.")
        capture = profile()
        _run(self.shell, _compiled(self.shell, statement, "none"), capture)
        return capture.result

    def _profile_cell(self, args: argparse.Namespace, cell: str) -> None:
        __tracebackhide__ = True
        capture = profile(
            args.name,
            logdir=args.out,
            host_level=args.host_level,
            device_level=args.device_level,
            python_level=args.python_level,
        )
        code = _compiled(self.shell, "\n" + cell, self.shell.ast_node_interactivity)  # the magic's line counts too
        try:
            _run(self.shell, code, capture)
        finally:
            if capture.finished:
                self._hand_over(capture.result, args)

    def _hand_over(self, result: Profile, args: argparse.Namespace) -> None:
        if args.name:
            self.shell.push({args.name: result})
        if not args.quiet:
            _show(result, args.views, static=args.static)

    @magic_arguments()
    @argument("path", type=_path, metavar="PATH", help="A profile file, a run folder or a logdir.")
    @argument("name", nargs="?", type=_variable, metavar="NAME", help="Variable that gets the profile.")
    @line_magic
    def tfprofile_load(self, line: str) -> Profile:
        """Open a profile that was made before, here or elsewhere.

        Examples::

            %tfprofile_load tfprof_logs baseline
        """
        __tracebackhide__ = True
        args = parse_argstring(self.tfprofile_load, line)
        result = load(args.path, name=args.name)
        if args.name:
            self.shell.push({args.name: result})
        return result


def _run(shell: InteractiveShell, code: list[CodeType], capture: profile) -> None:
    """Run the code in the user's namespace while the capture is on; an error is the user's own."""
    __tracebackhide__ = True
    with _saying_that_it_saves() as saving, capture:
        try:
            for part in code:
                exec(part, shell.user_global_ns, shell.user_ns)  # noqa: S102  (that is what a cell is for)
        finally:
            saving.start()


def _compiled(shell: InteractiveShell, text: str, interactivity: str) -> list[CodeType]:
    """Compile text as IPython would: what is run for its effect, then what is run to show its value."""
    __tracebackhide__ = True
    above = len(list(takewhile(lambda line: not line.strip(), text.splitlines())))
    source = "\n" * above + shell.transform_cell(text)  # it takes empty lines away; errors are to name the right ones
    name = shell.compile.cache(source, shell.displayhook.prompt_count)
    body = shell.transform_ast(shell.compile.ast_parse(source, filename=name)).body
    run = len(body) - (0 if _ends_in_semicolon(source) else _count_shown(body, interactivity))
    shown = [(ast.Interactive([statement]), "single") for statement in body[run:]]
    compiler: Any = shell.compile  # typed for text alone
    try:
        return [compiler(tree, name, mode) for tree, mode in ((ast.Module(body[:run], []), "exec"), *shown)]
    except SyntaxError:
        _refuse_await(body, name)
        raise


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


def _refuse_await(body: list[ast.stmt], name: str) -> None:
    """Say so if only a top-level await keeps the cell from being compiled."""
    __tracebackhide__ = True
    with suppress(SyntaxError):
        compile(ast.Module(body, []), name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        raise UsageError(
            "%%tfprofile cannot run a cell with await at its top level. "
            "In such a cell, write: with tfprof_nb.profile() as p: ..."
        )


@contextmanager
def _saying_that_it_saves() -> Iterator[threading.Timer]:
    """Give a timer: a while after its start, a line says that the profile is being saved, until the block ends."""
    line, said = "saving the profile ...", threading.Event()

    def say() -> None:
        print(line, end="", flush=True)  # noqa: T201
        said.set()

    timer = threading.Timer(SAVING_NOTE_S, say)
    try:
        yield timer
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join()  # it may be about to say it
        if said.is_set():
            print("\r" + " " * len(line) + "\r", end="", flush=True)  # noqa: T201


def _show(result: Profile, views: list[str] | None, *, static: bool) -> None:
    """Show the profile; if that fails, say why, and where the profile's files are."""
    try:
        display(result.dashboard(views, static=static))
    except Exception as error:  # noqa: BLE001  (the cell's own result must not suffer)
        files = ", ".join(str(file) for file in result.files)
        reason = f"{type(error).__name__}: {error}"
        print(f"The profile cannot be shown ({reason}). It is saved in {files}.", file=sys.stderr)  # noqa: T201


def register(shell: InteractiveShell) -> None:
    """Add the magics to a shell."""
    shell.register_magics(TfprofMagics)


def unregister(shell: InteractiveShell) -> None:
    """Take the magics out of a shell again."""
    for kind in shell.magics_manager.magics.values():
        for name in ("tfprofile", "tfprofile_load"):
            kind.pop(name, None)
    shell.magics_manager.registry.pop(TfprofMagics.__name__, None)
