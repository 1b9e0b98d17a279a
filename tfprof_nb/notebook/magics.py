"""The magics: ``%%tfprofile`` profiles a cell, ``%tfprofile`` a statement, ``%tfprofile_load`` opens a profile."""
# mypy: disable-error-code="no-untyped-call, untyped-decorator"
# (IPython's magic_arguments has no types.)

from __future__ import annotations

import argparse
import gc
import inspect
import keyword
import os
import shlex
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from tfprof_nb._errors import TfprofError
from tfprof_nb._units import size
from tfprof_nb.analysis.compare.compare import Comparison
from tfprof_nb.analysis.result import Result
from tfprof_nb.api.check import check
from tfprof_nb.api.compare import compare
from tfprof_nb.api.load import load
from tfprof_nb.api.profile import profile
from tfprof_nb.api.repeats import Repeats
from tfprof_nb.api.session import Capture, hides
from tfprof_nb.capture.interrupts import end_in_users_code, interrupts_wait
from tfprof_nb.capture.kept_runs import describe_run, keep_newest, logdir_of, shown_path
from tfprof_nb.capture.lines import CellLines
from tfprof_nb.capture.step_times import StepTimes, step_times
from tfprof_nb.formats.files import local_path
from tfprof_nb.notebook.cell_code import CellOfMagic, awaits, compiled, run, run_awaiting
from tfprof_nb.notebook.completion import Parsers, add_completions, misspelt, remove_completions
from tfprof_nb.notebook.live import Live, started_live
from tfprof_nb.profiles import Profile
from tfprof_nb.render.display import Place
from tfprof_nb.results import run_folder, run_folders_in_use
from tfprof_nb.storage import is_url
from tfprof_nb.views import dashboard
from tfprof_nb.views.headline import headline

_HELP = ("--help", "-h")


_PACKAGE = "tfprof_nb"
SAVING_NOTE_S = 1.0  # saving that takes longer is announced
# Takes a capture that has ended, and the line that told what it did.
HandOver = Callable[[Capture, Live | None], None]


def _variable(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be the name of a variable")
    return text


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)


def _views(text: str) -> list[str]:
    try:
        return dashboard.check_pages([name.strip() for name in text.split(",")])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _path(text: str) -> Path | str:
    """Return a folder or file; a URL stays a text."""
    place = os.path.expandvars(text.strip("\"'"))
    try:
        return place if is_url(place) else local_path(place)
    except TfprofError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@magics_class
class TfprofMagics(Magics):
    """The magics of tfprof_nb."""

    shell: InteractiveShell

    @no_var_expand
    @magic_arguments()
    @argument("name", nargs="?", type=_variable, metavar="NAME", help="Variable that gets the profile.")
    @argument("--warmup", type=int, default=0, metavar="N", help="Steps to skip first (default 0).")
    @argument("--steps", type=int, metavar="N", help="Steps to record (default all, up to 1 GiB of events).")
    @argument("--max-seconds", type=float, metavar="S", help="Time to record for (default all).")
    @argument("--host-level", type=int, choices=range(4), default=2, help="Detail on the host (default 2).")
    @argument("--device-level", type=int, choices=range(2), default=1, help="0 leaves out GPUs and TPUs (default 1).")
    @argument("--python-level", type=int, choices=range(2), default=0, help="1 traces Python calls (default 0).")
    @argument("--delay-ms", type=float, default=0, metavar="MS", help="Time to wait first (default 0).")
    @argument("--no-lines", dest="lines", action="store_false", help="Do not record lines of the program.")
    @argument("--no-python", dest="python", action="store_false", help="Do not sample which lines of Python run.")
    @argument("--metrics", action="store_true", help="Sample processor, memory, disk and GPU during the capture.")
    @argument(
        "--out", dest="logdir", type=_path, metavar="DIR", help="Folder for the profile's files (default tfprof_logs)."
    )
    @argument("--views", type=_views, metavar="VIEW,VIEW", help="Pages to show, e.g. overview,memory (default all).")
    @argument("--static", action="store_true", help="Show the profile as plain HTML, without widgets.")
    @argument("--quiet", action="store_true", help="Show nothing under the cell.")
    @argument("--repeat", type=_positive, metavar="N", help="Run the cell N times; NAME gets the list of profiles.")
    @argument("--keep", type=_positive, default=20, metavar="N", help="Profiles of this notebook to keep (default 20).")
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
        if cell is None and line.strip() not in _HELP:
            return self._profile_statement(line)
        args = _parsed(self.tfprofile, line)
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
        with _ProfiledCell(Capture(), None, lambda _capture, _live: None) as result:
            run(self.shell, code)
        return result

    def _profile_cell(self, args: argparse.Namespace, text: str) -> Coroutine[Any, Any, None] | None:
        """Profile a cell; return a coroutine if the cell uses ``await``."""
        __tracebackhide__ = True

        def hand_over(capture: Capture, live: Live | None) -> None:
            if args.name:
                self.shell.push({args.name: capture.profile})
            saved = _saved(capture, args)
            if capture.finished and not args.quiet:
                _show(capture.profile, args.views, live, saved, static=args.static)

        return self._profile_once(args, text, hand_over)

    def _profile_repeatedly(self, args: argparse.Namespace, text: str) -> Coroutine[Any, Any, None] | None:
        """Profile a cell several times; return a coroutine if the cell uses ``await``."""
        __tracebackhide__ = True
        repeated = _Repeated(self.shell, args)

        def profiled_runs() -> Iterator[Coroutine[Any, Any, None] | None]:
            __tracebackhide__ = True
            for of_run in repeated.runs():
                yield self._profile_once(of_run, text, repeated.add)

        runs = profiled_runs()
        with ExitStack() as stack:
            stack.enter_context(repeated)
            first = next(runs)
            if first is not None:
                return _awaiting_all(stack.pop_all(), first, runs)
            for _ in runs:
                pass
        return None

    def _profile_once(
        self, args: argparse.Namespace, text: str, hand_over: HandOver
    ) -> Coroutine[Any, Any, None] | None:
        __tracebackhide__ = True
        lines = CellLines(text) if args.lines else None
        capture = _settings(args).new_capture(lines)
        cell = "\n" + text.partition("\n")[2]  # the magic's line counts too
        code = compiled(self.shell, cell, self.shell.ast_node_interactivity, lines)
        tell = partial(started_live, self.shell, capture, Place(has_widget=not args.static))
        profiled = _ProfiledCell(capture, lines, hand_over, None if args.quiet else tell)
        if awaits(code):
            return self._profile_awaiting(profiled, code)
        with profiled:
            run(self.shell, code)
        return None

    async def _profile_awaiting(self, profiled: _ProfiledCell, code: list[CodeType]) -> None:
        __tracebackhide__ = True
        with profiled:
            await run_awaiting(self.shell, code)

    @magic_arguments()
    @argument("path", type=_path, metavar="PATH", help="A profile file, a run folder or a logdir.")
    @argument("name", nargs="?", type=_variable, metavar="NAME", help="Variable that gets the profile.")
    @line_magic
    def tfprofile_load(self, line: str) -> Profile | None:
        """Open a profile that was made before, here or elsewhere.

        Examples::

            %tfprofile_load tfprof_logs baseline
        """
        __tracebackhide__ = True
        args = _parsed(self.tfprofile_load, line)
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
        args = _parsed(self.tfprofile_compare, line)
        if args is None:
            return None
        try:
            return compare(self._named(args.before), self._named(args.after))
        except TfprofError as error:
            raise UsageError(str(error)) from None

    def _named(self, text: str) -> Any:
        """Return the value of the variable of this name, or the path that the text is."""
        path = _path(text)
        if text in self.shell.user_ns:
            return self.shell.user_ns[text]
        if isinstance(path, Path) and not path.exists():
            raise UsageError(
                f"There is no variable, file or folder {text}: give a variable that holds a profile "
                "(%%tfprofile NAME makes one), or the path of a profile."
            )
        return path

    @magic_arguments()
    @argument("--out", dest="logdir", type=_path, metavar="DIR", help="Where captures will go (default tfprof_logs).")
    @line_magic
    def tfprofile_check(self, line: str) -> Result | None:
        """Say what can be captured here, and how to fix what cannot.

        Examples::

            %tfprofile_check
        """
        __tracebackhide__ = True
        args = _parsed(self.tfprofile_check, line)
        return check(args.logdir) if args else None


class _Repeated:
    """Collects the profiles of a cell that runs several times; in the end NAME gets them, and they are shown.

    A run that an error ended is no repeat: it counts only if it is the first.
    """

    def __init__(self, shell: InteractiveShell, args: argparse.Namespace) -> None:
        self._shell, self._args, self._profiles = shell, args, Repeats()

    def runs(self) -> Iterator[argparse.Namespace]:
        """Yield the options of each run: its profile has a name of its own."""
        for number in range(1, self._args.repeat + 1):
            name = f"{self._args.name or 'run'} {number}"
            yield argparse.Namespace(**(vars(self._args) | {"name": name}))

    def add(self, capture: Capture, _live: Live | None) -> None:
        """Keep a run's profile."""
        if capture.finished:
            self._profiles.append(capture.profile)
            _saved(capture, self._args)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        __tracebackhide__ = True
        if kind and len(self._profiles) > 1:
            self._profiles.pop()
        if self._args.name:
            self._shell.push({self._args.name: self._profiles})
        if self._profiles and not self._args.quiet:
            self._profiles.content(static=self._args.static).show()


async def _awaiting_all(
    ending: ExitStack, first: Coroutine[Any, Any, None], others: Iterator[Coroutine[Any, Any, None] | None]
) -> None:
    """Await the runs of a cell that uses ``await``, one after the other."""
    __tracebackhide__ = True
    with ending:
        await first
        for one in others:
            if one is not None:
                await one


def _parsed(magic: Any, line: str) -> argparse.Namespace | None:
    """Return a magic's arguments; None after showing its help, if that is what the line asks for."""
    if set(line.split()) & set(_HELP):
        shown = magic.parser.format_help().replace("%tfprofile [", "%%tfprofile [")  # options go with the cell form
        print(shown)  # noqa: T201
        return None
    if wrong := misspelt(line, magic.parser):
        raise UsageError(wrong)
    args: argparse.Namespace = parse_argstring(magic, line)
    return args


def _settings(args: argparse.Namespace) -> profile:
    """Return the capture's settings: the magic's options that have the name of a parameter of `profile`."""
    __tracebackhide__ = True
    try:
        return profile(**{name: vars(args)[name] for name in inspect.signature(profile).parameters})
    except ValueError as error:
        raise UsageError(str(error)) from None


class _ProfiledCell:
    """Captures while the ``with`` block runs, and passes on the profile, also if an error ends the block.

    The user must see the error of the block; a failure of the capture is reported beside it. ``tell`` begins to show
    what the capture does.
    """

    def __init__(
        self,
        capture: Capture,
        lines: CellLines | None,
        hand_over: HandOver,
        tell: Callable[[StepTimes], Live | None] | None = None,
    ) -> None:
        self._capture, self._hand_over, self._lines, self._tell = capture, hand_over, lines, tell
        self._live: Live | None = None

    def __enter__(self) -> Profile:
        __tracebackhide__ = True
        with ExitStack() as undo:
            times = undo.enter_context(step_times()) if self._tell else None
            result = self._capture.start()
            try:
                self._marks = self._lines.running() if self._lines else nullcontext()
                self._marks.__enter__()
                if self._tell and times:
                    self._live = self._tell(times)
            except BaseException:
                with suppress(TfprofError):
                    self._capture.finish()
                raise
            self._undo = undo.pop_all()
        return result

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        __tracebackhide__ = True
        if isinstance(error, KeyboardInterrupt):
            end_in_users_code(error)
        try:
            with self._undo, ExitStack() as said:
                try:
                    with interrupts_wait():
                        self._marks.__exit__(None, None, None)
                        said.enter_context(_saying_that_it_saves(self._live))
                finally:
                    self._capture.finish(error)
        except TfprofError as failure:
            if not hides(error, failure):
                raise failure.with_traceback(None) from failure.__cause__
            print(f"No profile: {failure}", file=sys.stderr)  # noqa: T201
        finally:
            self._hand_over(self._capture, self._live)
            if self._live:
                self._live.vanish()


@contextmanager
def _saying_that_it_saves(live: Live | None) -> Iterator[None]:
    """If the block takes long, show meanwhile that the profile is being saved."""
    if live:
        live.say("TensorFlow saves the profile")
        # Libraries of widgets take a quarter of a second to import: there is time for that now.
        threading.Thread(target=import_module, args=("tfprof_nb.render.view",), daemon=True).start()
        yield
        live.say("Reading the profile")
        return
    line, said = "saving the profile ...", threading.Event()

    def say() -> None:
        print(line, end="", flush=True)  # noqa: T201
        said.set()

    timer = threading.Timer(SAVING_NOTE_S, say)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be about to print
        if said.is_set():
            print("\r" + " " * len(line) + "\r", end="", flush=True)  # noqa: T201


def _saved(capture: Capture, args: argparse.Namespace) -> str:
    """Remove the notebook's oldest profiles, and say where this one is and how large all are."""
    if not capture.finished or is_url(args.logdir or ""):
        return ""
    try:
        run = run_folder(capture.profile)
        kept = keep_newest(run, args.keep, run_folders_in_use())
    except OSError as error:  # the folder belongs to somebody else
        return f"The folder of the profile cannot be listed: {error.strerror or error}."
    opens = f"%tfprofile_load {shlex.quote(str(shown_path(run)))}"
    others = f"; its {kept.runs} profiles take {size(kept.all_bytes)}" if kept.runs > 1 else ""
    stay = f"Of this notebook's profiles the newest {args.keep} stay (`--keep {args.keep}`)."
    return f"Saved in `{logdir_of(run)}`: {size(kept.run_bytes)}{others}. {stay} `{opens}` opens this one again."


def _show(result: Profile, views: list[str] | None, live: Live | None, saved: str, *, static: bool) -> None:
    """Show the profile, in the place of its live line; if that fails, say why, and where the profile's files are."""
    try:
        with _no_collection():
            content = dashboard.content(result, views, static=static, saved=saved)
            content.show(live.end() if live else None)
        verdict = headline(result.overview).partition(":")[0]
        describe_run(run_folder(result), verdict, result.steps.summary["steps"])
    except Exception as error:  # noqa: BLE001  (the cell's own result must not suffer)
        files = ", ".join(str(file) for file in result.files)
        reason = f"{type(error).__name__}: {error}"
        print(f"The profile cannot be shown ({reason}). It is saved in {files}.", file=sys.stderr)  # noqa: T201


@contextmanager
def _no_collection() -> Iterator[None]:
    """Put off the collection of garbage: among TensorFlow's objects it takes a fifth of a second, just when we read."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


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
