"""What Python does during a capture: samples of the stacks of the thread that trains and of those that feed it.

A thread reads the stacks of other threads at a regular interval; nothing is added to the code that it watches.
Python runs one thread at a time, so a sample must wait until the watched thread pauses; `_SWITCH_S` bounds that wait.

A frame of another thread may be read only while that thread stands still: one that returned meanwhile, or that a
collection of garbage met half made (Python 3.11 collects wherever it allocates), ends the process. So a stack is read
by iterators written in C, within one call, and no frame is ever held here.

`tf.function` and tf.data run copies of functions that AutoGraph generated: their lines are told as the originals.
"""

import gc
import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate, chain, islice, repeat, takewhile
from operator import attrgetter, itemgetter, methodcaller
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from tfprof_nb.capture.function_loops import function_loops, gradients
from tfprof_nb.capture.graphs.source_lines import MAGICS, is_users, texts_of
from tfprof_nb.capture.sidecar import Gather, Interned
from tfprof_nb.capture.ticker import Ticker
from tfprof_nb.formats.sidecar import PythonSection

INTERVAL_S = 0.005
_SWITCH_S = 0.0005
_MAX_DEPTH = 200
# TensorFlow calls Python functions of tf.data on threads of its own, through this file.
_FEEDERS = "script_ops.py"
# Keras lets the threads of a pool make a PyDataset's batches, through this file.
_POOLS, _BATCH_MAKERS = "pool.py", "py_dataset_adapter.py"
# While the main thread stands here, TensorFlow starts or ends the recording: the program does nothing.
_RECORDING = str(Path(__file__).with_name("recording.py"))
# Methods that dataclasses and named tuples write, which are in no file.
_WRITTEN_IN, _WRITTEN = "<string>", ("__create_fn__.", "<lambda>")

Instruction = tuple[CodeType, int]  # a code object, and the index of the instruction that it runs


class Place(NamedTuple):
    """A line of a function."""

    function: str
    file: str
    line: int


@contextmanager
def python_stacks(interval_s: float = INTERVAL_S) -> Iterator[Gather]:
    """Sample the stacks of the calling thread, and of threads that make data for TensorFlow and Keras."""
    sampler = _Sampler(threading.get_ident(), interval_s)
    switch_s = sys.getswitchinterval()
    sys.setswitchinterval(min(_SWITCH_S, switch_s))
    sampler.start()
    try:
        with function_loops(), gradients():
            yield sampler.gather
    finally:
        sampler.end()
        sys.setswitchinterval(switch_s)


class _Sampler:
    """Samples stacks until it is ended. Equal stacks are stored once."""

    def __init__(self, thread: int, interval_s: float) -> None:
        self._main = thread
        self._ticker = Ticker(self._watch, interval_s, "Python stacks")
        self._numbers: dict[tuple[tuple[int, int], ...], int] = {}  # by identity: to hash a code object is slow
        self._stacks: list[tuple[Instruction, ...]] = []  # which keeps the code, and its identity, alive
        self._samples: list[tuple[int, int, int, int]] = []  # time (ns since 1970), thread, stack, how late (ns)
        self._others: set[int] = set()  # threads that feed nothing

    def start(self) -> None:
        self._ticker.start()

    def _watch(self, ticker: Ticker) -> None:
        self._others.add(threading.get_ident())
        interval_ns, waits_since = round(ticker.interval_s * 1e9), time.perf_counter_ns()
        for _ in ticker:
            # Code in C that keeps the interpreter's lock, such as json.loads, lets no sample be taken in time.
            late = time.perf_counter_ns() - waits_since - interval_ns
            self._sample(late)
            waits_since = time.perf_counter_ns()

    def _sample(self, late: int) -> None:
        now = time.time_ns()
        self._add(now, self._main, stack_of(self._main), late)
        threads = _threads()
        self._others &= threads
        for thread in threads - self._others - {self._main}:
            stack = stack_of(thread)
            in_pool = _passes(stack, _POOLS)
            feeds = bool(stack) and stack[-1][0].co_filename.endswith(_FEEDERS)
            if feeds or (in_pool and _passes(stack, _BATCH_MAKERS)):
                self._add(now, thread, stack, late)
            elif not in_pool:  # whose threads may feed later
                self._others.add(thread)

    def _add(self, now: int, thread: int, stack: tuple[Instruction, ...], late: int) -> None:
        number = self._numbers.setdefault(tuple([(id(code), at) for code, at in stack]), len(self._stacks))
        if number == len(self._stacks):
            self._stacks.append(stack)
        self._samples.append((now, thread, number, max(late, 0)))

    def end(self) -> None:
        self._ticker.end()
        if self._ticker.is_alive():
            self._ticker.join()

    def gather(self) -> PythonSection:
        """End, and return the section (docs/sidecar.md)."""
        self.end()
        strings, functions, places = Interned[str](), Interned[tuple[str, str]](), Interned[tuple[int, int]]()
        generated, stacks = _generated(), []
        instructions = {(id(code), at): (code, at) for frames in self._stacks for code, at in frames}
        place_of = {key: _place(*instruction, generated) for key, instruction in instructions.items()}
        for frames in self._stacks:
            of_cell = takewhile(lambda frame: not frame[0].co_filename.startswith(MAGICS), frames)
            own = [place_of[id(code), at] for code, at in of_cell]
            lines = [(functions.number((place.function, place.file)), place.line) for place in own]
            stacks.append(places.numbers(lines))
        idle = {number for number, frames in enumerate(self._stacks) if _passes(frames, _RECORDING)}
        samples = [sample for sample in self._samples if sample[2] not in idle]
        threads = Interned[int]()
        threads.number(self._main)
        return PythonSection(
            interval_ns=round(self._ticker.interval_s * 1e9),
            functions={
                "name": strings.numbers(name for name, _ in functions.values()),
                "file": strings.numbers(file for _, file in functions.values()),
                "users": [is_users(file) and not _is_written(name, file) for name, file in functions.values()],
            },
            places={"function": [one for one, _ in places.values()], "line": [line for _, line in places.values()]},
            stacks=stacks,
            samples={
                "time_ns": [time_ns for time_ns, _, _, _ in samples],
                "thread": threads.numbers(thread for _, thread, _, _ in samples),
                "stack": [stack for _, _, stack, _ in samples],
                "late_ns": [late for _, _, _, late in samples],
            },
            strings=strings.values(),
            sources=texts_of(file for _, file in functions.values()),
        )


def stack_of(thread: int) -> tuple[Instruction, ...]:
    """Return what a thread runs, innermost first: nothing where it has ended, or at most 200 calls."""
    first = map(methodcaller("get", thread), _once(sys._current_frames))  # noqa: SLF001  (no other way)
    frames = takewhile(bool, accumulate(chain(first, repeat("f_back", _MAX_DEPTH - 1)), getattr))
    return _uncollected(map(attrgetter("f_code", "f_lasti"), frames))


def _passes(stack: Iterable[Instruction], file: str) -> bool:
    """Whether a function of a file is among those that a thread runs."""
    return any(code.co_filename.endswith(file) for code, _ in stack)


def _threads() -> set[int]:
    """Return the threads that run Python."""
    found: set[int] = set()
    found.update(*_uncollected(map(frozenset, _once(sys._current_frames))))  # noqa: SLF001
    return found


def _once(call: Callable[[], Any]) -> Iterator[Any]:
    """Return an iterator that calls, when it is asked, once."""
    return islice(iter(call, object()), 1)


def _uncollected(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return the values, read by one call in C while no collection of garbage can start: ticks allow it again."""
    return tuple(chain(_once(gc.disable), values))[1:]


def _is_written(name: str, file: str) -> bool:
    """Whether a function is one that a class's decorator or base wrote."""
    return file == _WRITTEN_IN and name.startswith(_WRITTEN)


def _place(code: CodeType, at: int, generated: Mapping[tuple[str, int], Place]) -> Place:
    """Return where an instruction stands, or stood before AutoGraph converted its function."""
    line = _line(code, at)
    place = Place(code.co_qualname, code.co_filename, line)
    return generated.get((code.co_filename, line), place)


def _line(code: CodeType, at: int) -> int:
    """Return the line of an instruction."""
    lines = [(start, line) for start, _, line in code.co_lines() if line is not None]
    k = bisect_right(lines, at, key=itemgetter(0)) - 1
    return lines[k][1] if k >= 0 else code.co_firstlineno


def _generated() -> dict[tuple[str, int], Place]:
    """Return the original place of each generated line, by the generated file and line.

    TensorFlow has no public way to ask; if its inner structure differs from that of 2.20 and 2.21, nothing is returned.
    """
    api: Any = sys.modules.get("tensorflow.python.autograph.impl.api")
    try:
        return dict(_origins(api._TRANSPILER._cache._cache)) if api else {}  # noqa: SLF001
    except (AttributeError, TypeError, RuntimeError):
        return {}


def _origins(cache: Any) -> Iterator[tuple[tuple[str, int], Place]]:
    for code, factories in list(cache.items()):
        name = getattr(code, "co_qualname", "")
        for factory in list(factories.values()):
            for generated, original in (factory.source_map or {}).items():
                place = Place(name or original.function_name, original.loc.filename, original.loc.lineno)
                yield (generated.filename, generated.lineno), place
