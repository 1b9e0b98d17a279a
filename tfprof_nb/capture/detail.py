"""Record ops only until enough is known of them: step marks, calls and callbacks cost little and are always recorded.

Ops are recorded from the beginning until enough steady steps of a kind have passed; again where a kind of step is new,
now and then, and wherever no steps follow one another: from the end of a pass over the data to the next step, in which
old iterators end and new ones begin, where the cell reaches a line or a loop for the first time, and in all other code.
Where nothing marks steps, the passes of loops are: marks of lines and fetches of data tell where they begin. So are
calls of functions and runs of sessions, with what lies between, if these and the data take much of the time.
Events mark where recording of ops ends, and begins again (`formats.marks`).
"""

import functools
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from tfprof_nb.capture.marks import newest_owner
from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.tensorflow import iterator_class, trace_class
from tfprof_nb.capture.ticker import Ticker
from tfprof_nb.capture.trace_level import MARKS, NOTHING, OPS, can_change_level, set_level
from tfprof_nb.capture.watched_steps import watched_calls, watched_steps
from tfprof_nb.formats.marks import (
    CELL_LINE,
    END_OF_DATA,
    FETCH,
    GRADIENTS,
    ITERATION,
    KERAS_LOOP_END,
    LEADS,
    LOOP_LINE,
    OPS_BEGIN,
    OPS_END,
)

_FIRST = 2  # steps of a kind that trace, compile and warm up
# What is enough of a kind: so many steady steps in so many seconds, or fewer longer ones.
_ENOUGH = ((6, 0.15), (3, 1.0))
_KINDS, _WINDOWS = 16, 3  # those of more kinds, and more of one kind, open only within the share
# Of the time, and in all, for windows that open without something new; a smaller share after the first minute.
_SHARE, _SHARE_LATER, _EARLY_S, _FREE_S = 0.05, 0.005, 60.0, 0.3
_UNMARKED_S = 0.3  # between marked steps: then what runs is no pause between them
_CALLED = 0.2  # of a loop's time, in functions and in fetching data: else ops between the calls matter
_NEIGHBOURS = 16  # steps, after which one of another kind belongs to other code
_AROUND_S = 1.0  # a loop whose passes take longer, with other loops in them, goes around the steps: epochs, say
_LATE, _FIRST_PASS_S = 3, 20.0  # times as long as usual, and as a first one: then a pass of a loop comes no more
_LONGEST_S = 60.0  # a step that has not ended by then was cut short
# A second look comes soon: buffers that filled while the first step traced hide how long steps wait.
_POLL_S, _FIRST_LOOK_S = 0.1, 1.0


class _Tells(IntEnum):
    """What tells where a step ends; of a program's loops, those that take data or gradients are its steps."""

    LOOPS = 0  # the next pass of a loop begins
    CALLS = 1  # a function was called, or a session ran
    STEPS = 2  # a mark, or the next batch, or gradients


@dataclass
class _Kind:
    """A kind of step, such as Keras' training steps of one model.

    Attributes
    ----------
    tells
        What tells where they end.
    opened
        How many windows its steps opened.
    ended
        How many steps ended.
    steady, seconds
        How many steady ones were recorded as a whole, and how long that took, with what came between.
    first, newest
        When the first pass and the newest step ended; 0 without passes.
    """

    tells: _Tells = _Tells.STEPS
    opened: int = 0
    ended: int = 0
    steady: int = 0
    seconds: float = 0.0
    first: float = 0.0
    newest: float = 0.0

    @property
    def is_known(self) -> bool:
        return any(self.steady >= steps and self.seconds >= seconds for steps, seconds in _ENOUGH)

    def goes_on(self, now: float) -> bool:
        """Whether passes that tell where steps end are still to come."""
        longest_s = _LATE * (self.newest - self.first) / self.ended if self.ended else _FIRST_PASS_S
        return bool(self.first) and self.tells is _Tells.STEPS and now - self.newest <= longest_s


class Detail:
    """Begins and ends the recording of ops while a profiler records.

    Attributes
    ----------
    is_active, is_open
        Whether it decides, and whether ops are recorded now.
    is_warming_up
        Whether the first step of a model runs as a graph, which is traced, optimized and compiled in it.
    marks, calls
        How many marks were made in Python, and how many calls of functions ended.
    ended, steady
        How many steps ended, and how many of them were steady: the first of each kind trace and allocate.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._kinds: dict[object, _Kind] = {}
        self._newest: deque[object] = deque(maxlen=_NEIGHBOURS)  # kinds of the newest passes and calls
        self._newest_marked: deque[object] = deque(maxlen=_NEIGHBOURS)  # those of the newest marked steps
        self._places: set[object] = set()  # lines and loops that were reached
        self._line = 0  # the newest one that was reached
        self._leading: weakref.ref[Any] | None = None  # the iterator that begins passes, while it lives
        self._marked_until = self._stepped_at = self._passed_at = 0.0
        self._in_mark = False
        self._explained_s = 0.0  # since ops are recorded: how long functions and fetching data took
        self.is_active = self.is_open = self._leaves_out_runtime = self._opens_no_more = self.is_warming_up = False
        self.marks = self.calls = self.ended = self.steady = 0
        self._ticker = Ticker(self._poll, _POLL_S, "detail")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch steps, passes and calls on this thread while the block runs."""
        self._thread = threading.get_ident()
        with ExitStack() as undo:
            for owner, name, wrapper in (
                *((trace_class(), name, self._let_in) for name in ("__init__", "set_metadata", "__exit__")),
                (trace_class(), "__init__", self._after_marks),
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
            self._newest_marked.clear()
            self._places.clear()
            self._began_at = self._marked_until = self._passed_at = time.monotonic()
            self._recorded_s = self._next_look = self._explained_s = self._stepped_at = 0.0
            self._leaves_out_runtime = self._opens_no_more = False
            self.marks = 0
            self.is_active, self._ticker = can_change_level(), Ticker(self._poll, _POLL_S, "detail")
            if self.is_active:
                self.is_open, self._opened_at = True, self._began_at
                self._steps_left: int | None = None
                self._ticker.start()

    def end(self) -> None:
        """End; the profiler is about to."""
        with self._lock:
            self._ticker.end()
            if self._lets_in:
                set_level(MARKS)
            self.is_active = self.is_open = False

    def leave_out_runtime(self) -> None:
        """Record nothing but marks made in Python while ops are not recorded, from now on.

        Each element that a parallel map of tf.data takes leaves two events of the level of marks. What is lost with
        them between the windows is when XLA compiles.
        """
        with self._lock:
            if not self._leaves_out_runtime:
                self._leaves_out_runtime = True
                if self._lets_in:
                    set_level(NOTHING)

    def open_no_more(self) -> None:
        """Record no more ops in this recording; step marks, calls and callbacks are recorded as ever."""
        with self._lock:
            if self.is_active and not self._opens_no_more:
                self._opens_no_more = True
                self._close()

    @property
    def _lets_in(self) -> bool:
        """Whether only marks made in Python are recorded now."""
        return self.is_active and not self.is_open and self._leaves_out_runtime

    def _let_in(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Record what a method of marks leaves, which TensorFlow takes only at their level."""

        @functools.wraps(method)
        def let_in(trace: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._leaves_out_runtime:
                return method(trace, *args, **kwargs)
            with self._lock:
                if self._lets_in:
                    set_level(MARKS)
                try:
                    return method(trace, *args, **kwargs)
                finally:
                    if self._lets_in:
                        set_level(NOTHING)

        return let_in

    def _open(self, steps: int | None) -> None:
        """Record ops for so many steps, None: until their kind is known, 0: until the next one begins."""
        if self.is_active and not self.is_open and not self._opens_no_more:
            self.is_open, self._opened_at, self._steps_left = True, time.monotonic(), steps
            set_level(OPS)
            _leave_event(OPS_BEGIN)
            self._explained_s = 0.0

    def _close(self) -> None:
        if self.is_open:
            _leave_event(OPS_END)
            set_level(NOTHING if self._leaves_out_runtime else MARKS)
            self.is_open, now = False, time.monotonic()
            self._recorded_s += now - self._opened_at
            self._next_look = self._next_look or now + _FIRST_LOOK_S

    def _may_open(self) -> bool:
        passed = time.monotonic() - self._began_at
        early = min(passed, _EARLY_S)
        return self._recorded_s <= _FREE_S + _SHARE * early + _SHARE_LATER * (passed - early)

    def _may_watch(self, kind: _Kind) -> bool:
        """Whether to record steps of a kind of which not enough is known."""
        return not kind.is_known and ((kind.opened < _WINDOWS and len(self._kinds) <= _KINDS) or self._may_open())

    def _after_marks(self, begin: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(begin)
        def init(trace: Any, name: str, **kwargs: Any) -> None:
            if name == KERAS_LOOP_END:
                self._pass_ended()
            begin(trace, name, **kwargs)
            self.marks += 1
            if threading.get_ident() != self._thread:
                return
            if name.startswith(CELL_LINE):
                line, self._line = self._line, int(name[len(CELL_LINE) :])
                self._reached(name, again=self._line <= line)
            elif name.startswith(LOOP_LINE):
                self._reached(name, again=kwargs[ITERATION] > 0)
            elif name.startswith(GRADIENTS):
                self._passed(name, _Tells.STEPS)

        return init

    def _reached(self, place: object, *, again: bool) -> None:
        """The program reached a line or a loop; ``again`` means in the next pass of a loop."""
        if again:
            self._passed(place, _Tells.LOOPS)
        elif place not in self._places and not self._in_mark:
            with self._lock:
                self._open(steps=0)
        self._places.add(place)

    def _after_data(self, fetch: Callable[..., Any]) -> Callable[..., Any]:
        from tensorflow.python.eager.context import executing_eagerly

        @functools.wraps(fetch)
        def fetched(iterator: Any) -> Any:
            __tracebackhide__ = True
            if threading.get_ident() != self._thread or not executing_eagerly():
                return fetch(iterator)
            began = time.monotonic()
            leading = self._leading and self._leading()
            if leading is None:  # of several, the first begins a pass
                self._leading, leading = weakref.ref(iterator), iterator
            leads = leading is iterator
            recorded = self._in_mark and (self.is_open or not self.is_active)  # the op itself then tells as much
            try:
                with nullcontext() if recorded else trace_class()(FETCH, **{LEADS: int(leads)}) as mark:
                    if leads:
                        self._passed(FETCH, _Tells.STEPS)
                    try:
                        return fetch(iterator)
                    except Exception:  # the end of the data is one
                        if mark:
                            mark.set_metadata(**{END_OF_DATA: 1})
                        raise
            except Exception:
                self._pass_ended()
                raise
            finally:
                self._explained_s += time.monotonic() - began

        return fetched

    def _pass_ended(self) -> None:
        with self._lock:
            self._in_mark = self.is_warming_up = False  # a mark that the end of the data cuts short does not end
            self._leading, self._marked_until = None, time.monotonic()
            self._open(steps=0)

    def _step_began(self, name: str) -> tuple[object, float]:
        owner = newest_owner()  # Keras' callbacks, which know their model, or a model
        model = getattr(owner, "model", owner)
        key = name, id(model) if hasattr(model, "fit") else 0
        with self._lock:
            now = time.monotonic()
            kind = self._kinds.setdefault(key, _Kind())
            self._marked_until, self._in_mark = now + _LONGEST_S, True
            self.is_warming_up = hasattr(model, "fit") and not (kind.ended or getattr(model, "run_eagerly", False))
            if self.is_active and not (self.is_open and self._steps_left != 0):
                self._decide(kind, now)
            return key, now

    def _decide(self, kind: _Kind, now: float) -> None:
        """Record the step that has begun, and how many more; or leave its ops out."""
        steps: int | None = 0
        if self._may_watch(kind):
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
            self._marked_until, self._in_mark, self.is_warming_up = now + _UNMARKED_S, False, False
            self._stepped_at = self._passed_at = now
            self._newest_marked.append(key)
            before, kind.newest = kind.newest, now
            self._end(kind)
            if not self.is_open:
                return
            self._count(kind, began, now - max(before, self._opened_at))
            if self._steps_left is not None:
                self._steps_left -= 1
            enough = all(self._kinds[each].is_known for each in self._newest_marked)  # also of those in turns with it
            if enough if self._steps_left is None else self._steps_left <= 0:
                self._close()

    def _end(self, kind: _Kind) -> None:
        """A step or a pass of a kind ended; a pass is no step where others tell more."""
        kind.ended += 1
        if kind.tells is max(one.tells for one in self._kinds.values()):
            self.ended += 1
            self.steady += kind.ended > _FIRST

    def _count(self, kind: _Kind, began: float, seconds: float) -> None:
        """Count a step whose ops were recorded, with what came since the one before of its kind.

        The first steps, which trace, use up nothing of what may be recorded.
        """
        if kind.ended <= _FIRST:
            self._opened_at, self._explained_s = time.monotonic(), 0.0
        elif began >= self._opened_at:
            kind.steady += 1
            kind.seconds += seconds

    def _call_ended(self, call: object, seconds: float) -> None:
        """A function was called, or a session ran; of those in marked steps nothing more is kept."""
        self.calls += 1
        if not self._in_mark:
            self._explained_s += seconds
            self._passed(call, _Tells.CALLS)

    def _passed(self, key: object, tells: _Tells) -> None:
        """A pass of a loop ended, or a call: with what came since the one before of its kind, it is a step."""
        with self._lock:
            now, kind = time.monotonic(), self._kinds.setdefault(key, _Kind(tells))
            before, kind.newest = kind.newest, now
            if self._in_mark or (tells is not _Tells.CALLS and before < self._stepped_at):  # marked steps are in it
                return
            others = bool(self._newest) and self._newest[-1] != key
            if tells is _Tells.LOOPS and others and now - before > _AROUND_S:
                return
            began = before if key in self._newest else self._passed_at  # what it belongs to may be new
            # A short loop does not displace those around it.
            if tells is not _Tells.LOOPS or others or not self._newest:
                self._newest.append(key)
            self._passed_at = now
            self._marked_until = max(self._marked_until, now + _UNMARKED_S + 2 * (now - began))
            if before or tells is _Tells.CALLS:  # else the first pass begins
                self._end(kind)
            kind.first = kind.first or now
            if not self.is_active:
                return
            if not self.is_open:
                if self._may_watch(kind):
                    kind.opened += 1
                    self._open(steps=None)
                return
            self._count(kind, began, now - began)
            kinds = [self._kinds[each] for each in self._newest]
            if tells is _Tells.LOOPS:  # may run within a step, however often
                kinds += [each for each in self._kinds.values() if each.goes_on(now)]
            if self._steps_left == 0 and kind.is_known and self._may_open():
                self._steps_left = 2
            elif self._steps_left and kind is max(kinds, key=lambda one: (one.tells, -one.ended)):
                self._steps_left -= 1
            if not self._steps_left and self._is_enough(tells, kinds):
                self._close()

    def _is_enough(self, tells: _Tells, kinds: list[_Kind]) -> bool:
        """Whether enough is known of the steps that end where the newest did, and of the calls among them."""
        if tells is _Tells.CALLS:
            whole = self._steps_left == 0 or self._explained_s >= _CALLED * (time.monotonic() - self._opened_at)
        else:
            whole = tells is max(one.tells for one in kinds if one.tells is not _Tells.CALLS)
        return whole and all(one.is_known for one in kinds if one.tells >= tells or one.tells is _Tells.CALLS)

    def _poll(self, ticker: Ticker) -> None:
        for _ in ticker:
            with self._lock:
                now = time.monotonic()
                if self.is_open or ticker.ended:
                    continue
                if now > self._marked_until:
                    self._open(steps=0)
                elif now >= self._next_look and self._may_open():
                    self._open(steps=3)  # it begins in the middle of the first
                    self._next_look = self._began_at + 2 * (now - self._began_at)


def _leave_event(name: str) -> None:
    with trace_class()(name):
        pass
