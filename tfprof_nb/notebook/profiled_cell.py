"""One run of a cell under a capture, and several of them."""

import argparse
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from importlib import import_module
from types import TracebackType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from tfprof_nb._errors import TfprofError
from tfprof_nb.api.repeats import Repeats
from tfprof_nb.api.session import Capture, hides
from tfprof_nb.capture.interrupts import end_in_users_code, interrupts_wait
from tfprof_nb.capture.lines import CellLines
from tfprof_nb.capture.step_times import StepTimes, step_times
from tfprof_nb.notebook.live import Live
from tfprof_nb.notebook.outcome import saved
from tfprof_nb.profiles import Profile

SAVING_NOTE_S = 1.0  # saving that takes longer is announced
# Takes a capture that has ended, and the line that told what it did.
HandOver = Callable[[Capture, Live | None], None]


class ProfiledCell:
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


class RepeatedCell:
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
            saved(capture, self._args)

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


async def awaiting_all(
    ending: ExitStack, first: Coroutine[Any, Any, None], others: Iterator[Coroutine[Any, Any, None] | None]
) -> None:
    """Await the runs of a cell that uses ``await``, one after the other."""
    __tracebackhide__ = True
    with ending:
        await first
        for one in others:
            if one is not None:
                await one
