"""The part of a block that is recorded: when it begins and how long it is, in steps and in time."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any, Literal, Self

from tfprof_nb.capture.profiler import Profiler
from tfprof_nb.capture.watched_steps import watched_steps

Phase = Literal["delayed", "warming up", "unmarked", "recording", "over"]


@dataclass(frozen=True)
class Window:
    """The part of a block that the profiler records; all of it by default.

    Attributes
    ----------
    warmup
        Steps to skip first.
    steps
        Steps to record; None is all.
    max_seconds
        Time to record; None is until the end.
    delay_ms
        Time to skip first, from the beginning of the block.
    record_all
        Whether to record ops all the time; else, where neither ``steps`` nor ``max_seconds`` says when recording ends,
        only until enough is known of them (`capture.detail`).
    """

    warmup: int = 0
    steps: int | None = None
    max_seconds: float | None = None
    delay_ms: float = 0
    record_all: bool = False

    def __post_init__(self) -> None:
        check_number("warmup", self.warmup, Integral, 0, "a whole number of steps, 0 or more")
        check_number("delay_ms", self.delay_ms, Real, 0, "a number of milliseconds, 0 or more")
        if self.steps is not None:
            check_number("steps", self.steps, Integral, 1, "a whole number of steps, 1 or more")
        if self.max_seconds is not None:
            check_number("max_seconds", self.max_seconds, Real, 1e-6, "a number of seconds above 0")

    @property
    def has_end(self) -> bool:
        """Whether it says when recording ends."""
        return self.steps is not None or self.max_seconds is not None


def check_number(name: str, value: Any, kind: type, minimum: float, meaning: str) -> None:
    """Raise ValueError if an argument has the wrong type or is too small."""
    allowed: bool = isinstance(value, kind) and minimum <= value < inf  # type: ignore[operator]
    if not allowed or isinstance(value, bool):
        raise ValueError(f"{name} must be {meaning}, not {value!r}.")


class Pacing:
    """Begins and ends a recording where a window says, while the ``with`` block runs.

    Until the code marks its first step, everything is recorded: code without marks would otherwise end without a
    profile. The first mark drops that recording, and the window holds.

    Parameters
    ----------
    window
        When to begin and to end.
    profiler
        Says whether it is recording.
    begin, end
        Begin and end the recording; called from any thread.

    Attributes
    ----------
    passed, recorded
        Complete steps before and during the recording.
    """

    def __init__(self, window: Window, profiler: Profiler, begin: Callable[[], None], end: Callable[[], None]) -> None:
        self._window, self._profiler, self._begin, self._end = window, profiler, begin, end
        self._lock = threading.RLock()
        self._delayed, self._over = window.delay_ms > 0, False
        self._marked = self._begun = False
        self._limit: threading.Timer | None = None
        self.passed = self.recorded = 0
        self._failure: Exception | None = None
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        __tracebackhide__ = True
        with ExitStack() as undo:
            undo.push(self.__exit__)
            if self._counts_steps:
                self._undo.enter_context(watched_steps(self._step_began, self._step_ended))
            if self._delayed:
                self._undo.callback(_timer(self._window.delay_ms / 1000, self._delay_ended).cancel)
            self._begin_if_due()
            self._raise_failure()
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._undo.close()

    def stop(self) -> None:
        """End the recording now, from any thread."""
        with self._lock:
            self._over = True
            self._end()

    def take_over(self) -> None:
        """From now on, let the caller decide when the profiler begins and ends."""
        with self._lock:
            self._over = True

    @property
    def phase(self) -> Phase:
        """What happens now: the recording has yet to begin, is on, or is over."""
        if not self._begun:
            return "delayed" if self._delayed else "warming up"
        if not self._profiler.is_running:
            return "over"
        return "unmarked" if self._counts_steps and not self._marked else "recording"

    @property
    def _counts_steps(self) -> bool:
        return bool(self._window.warmup or self._window.steps)

    def why_nothing(self) -> str:
        """Return why nothing was recorded, and what to do."""
        self._raise_failure()
        window = self._window
        if self._delayed:
            return f"the block ended before the delay of {window.delay_ms:g} ms was over. Choose a smaller delay_ms."
        return (
            f"the block ended after {self.passed} steps, before the {window.warmup} warm-up steps were over. Choose a "
            "smaller warmup."
        )

    def note(self) -> str:
        """Return a note if fewer steps were recorded than the window asks for."""
        asked = self._window.steps
        if self._over or not self._profiler.began:
            return ""
        if self._counts_steps and not self._marked:
            return (
                "The code has no step markers, so there was nothing to count and all of it was recorded. In your own "
                "loop, put `with tfprof_nb.step(i):` around each step."
            )
        if not asked or self.recorded >= asked:
            return ""
        why = "the code ended" if self._profiler.is_running else "max_seconds had passed"
        return f"Only {self.recorded} of {asked} requested steps were recorded: {why} before the others."

    def _raise_failure(self) -> None:
        __tracebackhide__ = True
        if self._failure is not None:
            raise self._failure

    def _delay_ended(self) -> None:
        with self._lock:
            self._delayed = False
            self._begin_if_due()

    def _step_began(self, _name: str) -> bool:
        """Return whether the step is recorded from its beginning."""
        with self._lock:
            if not self._marked:
                self._marked = True
                if self._window.warmup and not self._over:
                    self._drop_unmarked()
        return self._profiler.is_running

    def _drop_unmarked(self) -> None:
        self._begun = False
        self._profiler.drop()
        if self._limit:
            self._limit.cancel()

    def _step_ended(self, recorded: bool) -> None:
        with self._lock:
            if recorded:
                self.recorded += 1
                if self.recorded == self._window.steps and not self._over:
                    self._end()
            elif not self._begun:
                self.passed += 1
                self._begin_if_due()

    def _begin_if_due(self) -> None:
        early = self._marked and self.passed < self._window.warmup
        if self._over or self._delayed or self._begun or early:
            return
        self._begun = True
        try:
            self._begin()
        except Exception as error:  # noqa: BLE001  (this runs inside the user's program, which must go on)
            self._failure, self._over = error, True
            return
        if self._window.max_seconds:
            self._limit = _timer(self._window.max_seconds, self._time_ended)
            self._undo.callback(self._limit.cancel)

    def _time_ended(self) -> None:
        with self._lock:
            if not self._over:
                self._end()


def _timer(seconds: float, then: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), then)
    timer.daemon = True
    timer.start()
    return timer
