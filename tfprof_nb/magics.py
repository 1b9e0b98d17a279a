"""The magics: ``%%tfprofile`` profiles a cell, ``%tfprofile`` a statement, ``%tfprofile_load`` opens a profile."""

from __future__ import annotations

import argparse
import ast
import io
import keyword
import re
import sys
import threading
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType

from IPython.core.error import UsageError  # noqa: TID253  (this module is imported by %load_ext)
from IPython.core.interactiveshell import InteractiveShell  # noqa: TID253
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand  # noqa: TID253
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring  # noqa: TID253
from IPython.display import display  # noqa: TID253

from tfprof_nb.profiles import Profile, load
from tfprof_nb.session import profile


def _variable(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be the name of a variable")
    return text


def _path(text: str) -> Path:
    return Path(text.strip("\"'")).expanduser()


@magics_class
class TfprofMagics(Magics):
    """The magics of tfprof_nb."""

    @no_var_expand
    @magic_arguments()
    @argument("name", nargs="?", type=_variable, metavar="NAME", help="Variable that gets the profile.")
    @argument("--host-level", type=int, choices=range(4), default=2, help="Detail on the host (default 2).")
    @argument("--device-level", type=int, choices=range(2), default=1, help="0 leaves out GPUs and TPUs (default 1).")
    @argument("--python-level", type=int, choices=range(2), default=0, help="1 traces Python calls (default 0).")
    @argument("--delay-ms", type=int, default=0, help="Milliseconds until recording begins (default 0).")
    @argument("--out", type=_path, metavar="DIR", help="Folder for the profile's files (default tfprof_logs).")
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
        _run(self.shell, _compiled(self.shell, statement + ";"), capture)
        return capture.result

    def _profile_cell(self, args: argparse.Namespace, cell: str) -> None:
        __tracebackhide__ = True
        capture = profile(
            args.name,
            logdir=args.out,
            host_level=args.host_level,
            device_level=args.device_level,
            python_level=args.python_level,
            delay_ms=args.delay_ms,
        )
        code = _compiled(self.shell, cell)
        try:
            _run(self.shell, code, capture)
        finally:
            if capture.finished:
                self._hand_over(capture.result, args)

    def _hand_over(self, result: Profile, args: argparse.Namespace) -> None:
        if args.name:
            self.shell.push({args.name: result})
        if not args.quiet:
            _show(result)

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


def _compiled(shell: InteractiveShell, cell: str) -> list[CodeType]:
    """Compile a cell as IPython would: what is run for its effect, then what is run for its value."""
    __tracebackhide__ = True
    # The magic's own line and the empty lines that IPython takes away count, so that errors name the right lines.
    above = 1 + len(re.match(r"(?:[ \t]*\n)*", cell)[0].splitlines())
    text = "\n" * above + shell.transform_cell(cell)
    name = shell.compile.cache(text, shell.execution_count)
    body = shell.transform_ast(shell.compile.ast_parse(text, filename=name)).body
    shown = 0 if _ends_in_semicolon(text) else _count_shown(body, shell.ast_node_interactivity)
    parts = [(ast.Module(body[: len(body) - shown], []), "exec")]
    parts += [(ast.Interactive([node]), "single") for node in body[len(body) - shown :]]
    try:
        return [shell.compile(tree, name, mode) for tree, mode in parts]
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
    """Give a timer: a second after its start, a line says that the profile is being saved, until the block ends."""
    line, said = "saving the profile ...", threading.Event()

    def say() -> None:
        print(line, end="", flush=True)  # noqa: T201
        said.set()

    timer = threading.Timer(1.0, say)
    try:
        yield timer
    finally:
        timer.cancel()
        if said.is_set():
            print("\r" + " " * len(line) + "\r", end="", flush=True)  # noqa: T201


def _show(result: Profile) -> None:
    """Show the profile; if that fails, say why, and where the profile's files are."""
    try:
        display(result.dashboard())
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
