"""The magics: ``%%tfprofile`` profiles a cell, ``%tfprofile`` a statement, ``%tfprofile_load`` opens a profile."""
# mypy: disable-error-code="no-untyped-call, untyped-decorator"
# (IPython's magic_arguments has no types.)

import argparse
import sys
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfprof_nb._errors import TfprofError
from tfprof_nb.analysis.compare.compare import Comparison
from tfprof_nb.analysis.result import Result
from tfprof_nb.api.check import check
from tfprof_nb.api.compare import compare
from tfprof_nb.api.load import load
from tfprof_nb.api.session import Capture
from tfprof_nb.capture.lines import CellLines
from tfprof_nb.notebook.arguments import HELP, parsed, path, positive, settings, variable, views
from tfprof_nb.notebook.cell_code import CellOfMagic, awaits, compiled, run, run_awaiting
from tfprof_nb.notebook.completion import Parsers, add_completions, remove_completions
from tfprof_nb.notebook.live import Live, started_live
from tfprof_nb.notebook.outcome import saved, show
from tfprof_nb.notebook.profiled_cell import HandOver, ProfiledCell, RepeatedCell, awaiting_all
from tfprof_nb.profiles import Profile
from tfprof_nb.render.display import Place

_PACKAGE = "tfprof_nb"


@magics_class
class TfprofMagics(Magics):
    """The magics of tfprof_nb."""

    shell: InteractiveShell

    @no_var_expand
    @magic_arguments()
    @argument("name", nargs="?", type=variable, metavar="NAME", help="Variable that gets the profile.")
    @argument("--warmup", type=int, default=0, metavar="N", help="Steps to skip first (default 0).")
    @argument("--steps", type=int, metavar="N", help="Steps to record (default all, their ops until enough).")
    @argument("--max-seconds", type=float, metavar="S", help="Time to record for (default all).")
    @argument("--host-level", type=int, choices=range(4), default=2, help="Detail on the host (default 2).")
    @argument("--device-level", type=int, choices=range(2), default=1, help="0 leaves out GPUs and TPUs (default 1).")
    @argument("--python-level", type=int, choices=range(2), default=0, help="1 traces Python calls (default 0).")
    @argument("--delay-ms", type=float, default=0, metavar="MS", help="Time to wait first (default 0).")
    @argument("--no-lines", dest="lines", action="store_false", help="Do not record lines of the program.")
    @argument("--no-python", dest="python", action="store_false", help="Do not sample which lines of Python run.")
    @argument("--all", dest="record_all", action="store_true", help="Record ops all the time, not until enough.")
    @argument("--metrics", action="store_true", help="Sample processor, memory, disk and GPU during the capture.")
    @argument(
        "--out", dest="logdir", type=path, metavar="DIR", help="Folder for the profile's files (default tfprof_logs)."
    )
    @argument(
        "--ignore",
        action="append",
        default=[],
        metavar="RULE",
        help="Leave out what a rule of advice finds. Can be given several times.",
    )
    @argument("--views", type=views, metavar="VIEW,VIEW", help="Pages to show, e.g. overview,memory (default all).")
    @argument("--static", action="store_true", help="Show the profile as plain HTML, without widgets.")
    @argument("--quiet", action="store_true", help="Show nothing under the cell.")
    @argument("--repeat", type=positive, metavar="N", help="Run the cell N times; NAME gets the list of profiles.")
    @argument("--keep", type=positive, default=20, metavar="N", help="Profiles of this notebook to keep (default 20).")
    @line_cell_magic
    def tfprofile(self, line: str, cell: str | None = None) -> Profile | Coroutine[Any, Any, None] | None:
        """Profile a cell (%%tfprofile, with options) or a statement (%tfprofile, without).

        A cell runs as it would without the magic: its output, its Out[n] and its errors are its own. The profile
        is shown below it, and is in NAME where that is given, and in tfprof_nb.last().

        Examples::

            %%tfprofile baseline
            model.fit(data, epochs=2)

            %%tfprofile --warmup 2 --steps 10
            model.fit(data, epochs=100)

            %tfprofile model.predict(x)

            %%tfprofile baseline --repeat 5
            model.fit(data, epochs=2)
        """
        __tracebackhide__ = True
        if cell is None and line.strip() not in HELP:
            return self._profile_statement(line)
        args = parsed(self.tfprofile, line)
        if not args:
            return None
        text = f"%%tfprofile {line}".rstrip() + f"\n{cell}"
        return self._profile_repeatedly(args, text) if args.repeat else self._profile_cell(args, text)

    def _profile_statement(self, statement: str) -> Profile:
        __tracebackhide__ = True
        if not statement or statement.startswith("--"):
            raise UsageError("%tfprofile takes one statement; options go with the cell form, %%tfprofile.")
        code = compiled(self.shell, statement, "none")
        if awaits(code):
            raise UsageError("%tfprofile takes a statement without await: use the cell form, %%tfprofile.")
        with ProfiledCell(Capture(), None, lambda _capture, _live: None) as result:
            run(self.shell, code)
        return result

    def _profile_cell(self, args: argparse.Namespace, text: str) -> Coroutine[Any, Any, None] | None:
        __tracebackhide__ = True

        def hand_over(capture: Capture, live: Live | None) -> None:
            if args.name:
                self.shell.push({args.name: capture.profile})
            where = saved(capture, args)
            if capture.finished and not args.quiet:
                show(capture.profile, args.views, live, where, static=args.static)

        return self._profile_once(args, text, hand_over)

    def _profile_repeatedly(self, args: argparse.Namespace, text: str) -> Coroutine[Any, Any, None] | None:
        """Profile a cell several times; return a coroutine if the cell uses ``await``."""
        __tracebackhide__ = True
        repeated = RepeatedCell(self.shell, args)

        def profiled_runs() -> Iterator[Coroutine[Any, Any, None] | None]:
            __tracebackhide__ = True
            for of_run in repeated.runs():
                yield self._profile_once(of_run, text, repeated.add)

        runs = profiled_runs()
        with ExitStack() as stack:
            stack.enter_context(repeated)
            first = next(runs)
            if first is not None:
                return awaiting_all(stack.pop_all(), first, runs)
            for _ in runs:
                pass
        return None

    def _profile_once(
        self, args: argparse.Namespace, text: str, hand_over: HandOver
    ) -> Coroutine[Any, Any, None] | None:
        __tracebackhide__ = True
        lines = CellLines(text) if args.lines else None
        capture = settings(args).new_capture(lines)
        cell = "\n" + text.partition("\n")[2]  # the magic's line counts too
        code = compiled(self.shell, cell, self.shell.ast_node_interactivity, lines)
        tell = partial(started_live, self.shell, capture, Place(has_widget=not args.static))
        profiled = ProfiledCell(capture, lines, hand_over, None if args.quiet else tell)
        if awaits(code):
            return self._profile_awaiting(profiled, code)
        with profiled:
            run(self.shell, code)
        return None

    async def _profile_awaiting(self, profiled: ProfiledCell, code: list[CodeType]) -> None:
        __tracebackhide__ = True
        with profiled:
            await run_awaiting(self.shell, code)

    @magic_arguments()
    @argument("path", type=path, metavar="PATH", help="A profile file, a run folder or a logdir.")
    @argument("name", nargs="?", type=variable, metavar="NAME", help="Variable that gets the profile.")
    @line_magic
    def tfprofile_load(self, line: str) -> Profile | None:
        """Open a profile that was made before, here or elsewhere.

        Examples::

            %tfprofile_load tfprof_logs baseline
        """
        __tracebackhide__ = True
        args = parsed(self.tfprofile_load, line)
        if args is None:
            return None
        result = load(args.path, name=args.name)
        if args.name:
            self.shell.push({args.name: result})
        return result

    @magic_arguments()
    @argument("before", metavar="BEFORE", help="Variable that holds a profile (or a list of some), or a path.")
    @argument("after", metavar="AFTER", help="The same, of the changed program.")
    @line_magic
    def tfprofile_compare(self, line: str) -> Comparison | None:
        """Compare two profiles: how much faster, what changed, and whether chance could explain it.

        Examples::

            %tfprofile_compare baseline fixed
        """
        __tracebackhide__ = True
        args = parsed(self.tfprofile_compare, line)
        if args is None:
            return None
        try:
            return compare(self._named(args.before), self._named(args.after))
        except TfprofError as error:
            raise UsageError(str(error)) from None

    def _named(self, text: str) -> Any:
        """Return the value of the variable of this name, or the path that the text is."""
        place = path(text)
        if text in self.shell.user_ns:
            return self.shell.user_ns[text]
        if isinstance(place, Path) and not place.exists():
            raise UsageError(
                f"There is no variable, file or folder {text}: give a variable that holds a profile "
                "(%%tfprofile NAME makes one), or the path of a profile."
            )
        return place

    @magic_arguments()
    @argument("--out", dest="logdir", type=path, metavar="DIR", help="Where captures will go (default tfprof_logs).")
    @line_magic
    def tfprofile_check(self, line: str) -> Result | None:
        """Say what can be captured here, and how to fix what cannot.

        Examples::

            %tfprofile_check
        """
        __tracebackhide__ = True
        args = parsed(self.tfprofile_check, line)
        return check(args.logdir) if args else None


def register(shell: InteractiveShell) -> None:
    """Add the magics to a shell, and this package's name, since advice has code such as ``tfprof_nb.step(i)``."""
    if _PACKAGE not in shell.user_ns:
        shell.push({_PACKAGE: sys.modules[_PACKAGE]}, interactive=False)
    shell.register_magics(TfprofMagics)
    shell.input_transformers_post.append(CellOfMagic(shell, "tfprofile"))
    add_completions(shell, _parsers())


def _parsers() -> Parsers:
    magics: dict[str, Any] = {
        "%%tfprofile": TfprofMagics.tfprofile,
        "%tfprofile_load": TfprofMagics.tfprofile_load,
        "%tfprofile_compare": TfprofMagics.tfprofile_compare,
        "%tfprofile_check": TfprofMagics.tfprofile_check,
    }
    help_only = argparse.ArgumentParser()  # its options go with the cell form
    return {"%tfprofile": help_only} | {name: magic.parser for name, magic in magics.items()}


def unregister(shell: InteractiveShell) -> None:
    """Remove from a shell what `register` added."""
    if shell.user_ns_hidden.get(_PACKAGE) is sys.modules[_PACKAGE]:
        shell.drop_by_id({_PACKAGE: sys.modules[_PACKAGE]})
    for kind in shell.magics_manager.magics.values():
        for name in ("tfprofile", "tfprofile_load", "tfprofile_compare", "tfprofile_check"):
            kind.pop(name, None)
    shell.magics_manager.registry.pop(TfprofMagics.__name__, None)
    remove_completions(shell, _parsers())
    for transformer in list(shell.input_transformers_post):
        if isinstance(transformer, CellOfMagic):
            shell.input_transformers_post.remove(transformer)
