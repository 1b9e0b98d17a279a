"""Record ops only until enough is known of them: step marks, calls and callbacks cost little and are always recorded.

Ops are recorded from the beginning until enough steady steps of a kind have passed; again where a kind of step is new,
now and then, and wherever no steps follow one another: from the end of a pass over the data to the next step, in which
old iterators end and new ones begin, and in all other code. Where nothing marks steps, calls of functions are steps,
with what lies between them, if the functions and the data take much of the time.
Events mark where recording of ops ends, and begins again (`formats.marks`).
"""

import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from tfprof_nb.capture.marks import newest_owner
from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.tensorflow import iterator_class, trace_class
from tfprof_nb.capture.trace_level import MARKS, OPS, can_change_level, set_level
from tfprof_nb.capture.watched_calls import watched_calls
from tfprof_nb.capture.watched_steps import watched_steps
from tfprof_nb.formats.marks import KERAS_LOOP_END, OPS_BEGIN, OPS_END

_FIRST = 2  # steps of a kind that trace, compile and warm up
# What is enough of a kind: so many steady steps in so many seconds, or fewer longer ones.
_ENOUGH = ((6, 0.15), (3, 1.0))
_KINDS, _WINDOWS = 8, 3  # those of more kinds, and more of one kind, open only within the share
_SHARE, _FREE_S = 0.05, 0.5  # of the time, and in all, for windows that open without something new
_UNMARKED_S = 0.3  # between marked steps: then what runs is no pause between them
_CALLED = 0.2  # of a loop's time, in functions and in fetching data: else ops between the calls matter
_NEIGHBOURS = 16  # calls, after which one of another function belongs to other code
_LONGEST_S = 60.0  # a step that has not ended by then was cut short
# A second look comes soon: buffers that filled while the first step traced hide how long steps wait.
_POLL_S, _FIRST_LOOK_S = 0.1, 1.0


@dataclass
class _Kind:
    """A kind of step, such as Keras' training steps of one model.

    Attributes
    ----------
    opened
        How many windows its steps opened.
    ended
        How many steps ended.
    steady, seconds
        How many steady ones were recorded as a whole, and how long they took together.
    """

    opened: int = 0
    ended: int = 0
    steady: int = 0
    seconds: float = 0.0

    @property
    def is_known(self) -> bool:
        return any(self.steady >= steps and self.seconds >= seconds for steps, seconds in _ENOUGH)


class Detail:
    """Begins and ends the recording of ops while a profiler records.

    Attributes
    ----------
    is_active, is_open
        Whether it decides, and whether ops are recorded now.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._kinds: dict[object, _Kind] = {}
        self._newest: deque[object] = deque(maxlen=_NEIGHBOURS)  # kinds of the newest calls of functions
        self._in_mark = False
        self._explained_s = 0.0  # since ops are recorded: how long functions and fetching data took
        self.is_active = self.is_open = False
        self._ended = threading.Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch steps and passes over the data while the block runs."""
        with ExitStack() as undo:
            for owner, name, wrapper in (
                (trace_class(), "__init__", self._after_passes),
                (iterator_class(), "_next_internal", self._after_data),
            ):
                undo.enter_context(replaced(owner, name, wrapper(vars(owner)[name])))
            undo.enter_context(watched_steps(self._step_began, self._step_ended))
            undo.enter_context(watched_calls(self._call_ended))
            yield

    def begin(self) -> None:
        """Begin with recording ops; the profiler has started."""
        with self._lock:
            self._kinds.clear()
            self._newest.clear()
            self._began_at = self._marked_until = self._called_at = time.monotonic()
            self._recorded_s = self._next_look = self._explained_s = 0.0
            self.is_active, self._ended = can_change_level(), threading.Event()
            if self.is_active:
                self.is_open, self._opened_at = True, self._began_at
                self._steps_left: int | None = None
                threading.Thread(target=self._poll, args=(self._ended,), name="tfprof_nb detail", daemon=True).start()

    def end(self) -> None:
        """End; the profiler is about to."""
        with self._lock:
            self._ended.set()
            self.is_active = self.is_open = False

    def _open(self, steps: int | None) -> None:
        """Record ops for so many steps, None: until their kind is known, 0: until the next one begins."""
        if self.is_active and not self.is_open:
            set_level(OPS)
            _leave_event(OPS_BEGIN)
            self.is_open, self._opened_at, self._steps_left = True, time.monotonic(), steps
            self._explained_s = 0.0

    def _close(self) -> None:
        if self.is_open:
            _leave_event(OPS_END)
            set_level(MARKS)
            self.is_open, now = False, time.monotonic()
            self._recorded_s += now - self._opened_at
            self._next_look = self._next_look or now + _FIRST_LOOK_S

    def _may_open(self) -> bool:
        return self._recorded_s <= _FREE_S + _SHARE * (time.monotonic() - self._began_at)

    def _after_passes(self, begin: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(begin)
        def init(trace: Any, name: str, **kwargs: Any) -> None:
            if name == KERAS_LOOP_END:
                self._pass_ended()
            begin(trace, name, **kwargs)

        return init

    def _after_data(self, fetch: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fetch)
        def fetched(iterator: Any) -> Any:
            __tracebackhide__ = True
            began = time.monotonic()
            try:
                return fetch(iterator)
            except Exception:  # the end of the data is one
                self._pass_ended()
                raise
            finally:
                self._explained_s += time.monotonic() - began

        return fetched

    def _pass_ended(self) -> None:
        with self._lock:
            self._in_mark = False  # a mark that the end of the data cuts short does not end
            self._open(steps=0)

    def _step_began(self, name: str) -> tuple[object, float]:
        owner = newest_owner()  # Keras' callbacks, which know their model, or a model
        model = getattr(owner, "model", owner)
        key = name, id(model) if hasattr(model, "fit") else 0
        with self._lock:
            now = time.monotonic()
            kind = self._kinds.setdefault(key, _Kind())
            self._marked_until, self._in_mark = now + _LONGEST_S, True
            if self.is_active and not (self.is_open and self._steps_left != 0):
                self._decide(kind, now)
            return key, now

    def _decide(self, kind: _Kind, now: float) -> None:
        """Record the step that has begun, and how many more; or leave its ops out."""
        steps: int | None = 0
        if not kind.is_known and ((kind.opened < _WINDOWS and len(self._kinds) <= _KINDS) or self._may_open()):
            kind.opened += 1
            steps = None
        elif self.is_open and self._may_open():
            steps = 2  # the first of a pass, and one without its start
        if self.is_open:
            self._opened_at, self._steps_left = now, steps  # what was recorded between the steps is free
            if steps == 0:
                self._close()
        elif steps is None:
            self._open(steps)

    def _step_ended(self, token: tuple[object, float]) -> None:
        key, began = token
        with self._lock:
            now, kind = time.monotonic(), self._kinds.setdefault(key, _Kind())
            self._marked_until, self._in_mark = now + _UNMARKED_S, False
            self._called_at = now
            kind.ended += 1
            if not self.is_open:
                return
            if kind.ended > _FIRST and began >= self._opened_at:
                kind.steady += 1
                kind.seconds += now - began
            if self._steps_left is not None:
                self._steps_left -= 1
            if kind.is_known if self._steps_left is None else self._steps_left <= 0:
                self._close()

    def _call_ended(self, name: str, seconds: float) -> None:
        """A function that is part of no marked step was called: with what came since the call before, it is a step."""
        with self._lock:
            if self._in_mark:
                return
            now, began, key = time.monotonic(), self._called_at, ("call", name)
            kind = self._kinds.setdefault(key, _Kind())
            self._newest.append(key)
            self._called_at, self._marked_until = now, now + _UNMARKED_S + 2 * (now - began)
            self._explained_s += seconds
            kind.ended += 1
            if not self.is_active:
                return
            if not self.is_open:
                if not kind.is_known and (kind.opened < _WINDOWS or self._may_open()):
                    kind.opened += 1
                    self._open(steps=None)
                return
            if kind.ended > _FIRST and began >= self._opened_at:
                kind.steady += 1
                kind.seconds += now - began
            if self._steps_left == 0 and kind.is_known and self._may_open():
                self._steps_left = 2 * len(set(self._newest))
            elif self._steps_left:
                self._steps_left -= 1
            explained = self._steps_left == 0 or self._explained_s >= _CALLED * (now - self._opened_at)
            if not self._steps_left and explained and all(self._kinds[each].is_known for each in set(self._newest)):
                self._close()

    def _poll(self, ended: threading.Event) -> None:
        while not ended.wait(_POLL_S):
            with self._lock:
                now = time.monotonic()
                if self.is_open or ended.is_set():
                    continue
                if now > self._marked_until:
                    self._open(steps=0)
                elif now >= self._next_look and self._may_open():
                    self._open(steps=3 * len(set(self._newest)) or 3)  # it begins in the middle of the first
                    self._next_look = self._began_at + 2 * (now - self._began_at)


def _leave_event(name: str) -> None:
    with trace_class()(name):
        pass
