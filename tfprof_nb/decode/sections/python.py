"""Parse the section ``python``: stacks of Python's threads that were sampled during the capture."""

from dataclasses import dataclass, field, replace

import numpy as np

from tfprof_nb._arrays import Bools, Int64, Objects
from tfprof_nb.formats.sidecar import PythonSection

_MOST_LATE_NS = 60 * 10**9  # a machine that slept took no time in Python
_MOST_MISSED = 5_000_000  # hours of a thread that never lets go of Python's lock


def _no_numbers() -> Int64:
    return np.zeros(0, dtype=np.int64)


def _no_texts() -> Objects:
    return np.zeros(0, dtype=object)


@dataclass(frozen=True, eq=False)
class PythonStacks:
    """Samples of stacks.

    Attributes
    ----------
    interval_ns
        The time between two samples that was aimed at.
    time_ns, thread, stack
        Per sample: nanoseconds since 1970, ascending; 0 for the thread that began the capture, larger numbers for
        threads in which TensorFlow calls Python; the row of a stack. A sample that came late stands there once for each
        interval that it missed, too: what it shows kept Python's lock until then.
    frame_stack, frame_place
        Per frame of a stack, innermost first: the stack and the row of the place.
    place_function, place_line
        Per place: the row of the function, and the line.
    function_name, function_file, function_is_users
        Per function: its qualified name, its file, and whether that is the user's own.
    sources
        The texts of the user's files, by their names.
    """

    interval_ns: int = 0
    time_ns: Int64 = field(default_factory=_no_numbers)
    thread: Int64 = field(default_factory=_no_numbers)
    stack: Int64 = field(default_factory=_no_numbers)
    frame_stack: Int64 = field(default_factory=_no_numbers)
    frame_place: Int64 = field(default_factory=_no_numbers)
    place_function: Int64 = field(default_factory=_no_numbers)
    place_line: Int64 = field(default_factory=_no_numbers)
    function_name: Objects = field(default_factory=_no_texts)
    function_file: Objects = field(default_factory=_no_texts)
    function_is_users: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))
    sources: dict[str, str] = field(default_factory=dict)


def read_python(section: PythonSection | None) -> PythonStacks:
    """Return the samples of the section."""
    if not section:
        return PythonStacks()
    strings = np.array([str(text) for text in section["strings"]] or [""], dtype=object)
    functions, places, samples = section["functions"], section["places"], section["samples"]
    stacks = [_ints(stack) for stack in section["stacks"]]
    found = PythonStacks(
        interval_ns=int(section["interval_ns"]),
        time_ns=_ints(samples["time_ns"]),
        thread=_ints(samples["thread"]),
        stack=_ints(samples["stack"]),
        frame_stack=np.repeat(np.arange(len(stacks)), [len(stack) for stack in stacks]),
        frame_place=np.concatenate([_no_numbers(), *stacks]),
        place_function=_ints(places["function"]),
        place_line=_ints(places["line"]),
        function_name=strings[_ints(functions["name"])],
        function_file=strings[_ints(functions["file"])],
        function_is_users=np.array(functions["users"], dtype=bool),
        sources={str(file): str(text) for file, text in section.get("sources", {}).items()},
    )
    _check(found, len(stacks))
    return _with_missed(found, _ints(samples["late_ns"])) if "late_ns" in samples else found


def _with_missed(found: PythonStacks, late_ns: Int64) -> PythonStacks:
    """Repeat each late sample at the times at which it, or those after it, should have been taken."""
    if len(late_ns) != len(found.time_ns) or not found.interval_ns > 0:
        raise ValueError("the samples' lateness does not fit them")
    missed = np.clip(late_ns, 0, _MOST_LATE_NS) // found.interval_ns
    if missed.sum() > _MOST_MISSED:
        raise ValueError("more samples are missing than any capture can miss")
    times = np.repeat(np.arange(len(missed)), missed + 1)
    back = np.arange(len(times)) - np.repeat(np.cumsum(missed + 1) - missed - 1, missed + 1)
    time_ns = found.time_ns[times] - back * found.interval_ns
    order = np.argsort(time_ns, kind="stable")
    rows = times[order]
    return replace(found, time_ns=time_ns[order], thread=found.thread[rows], stack=found.stack[rows])


def _check(found: PythonStacks, stacks: int) -> None:
    """Raise a `ValueError` if columns differ in length, or a number is not that of a row."""
    if not len(found.time_ns) == len(found.thread) == len(found.stack):
        raise ValueError("the samples' columns differ in length")
    if not len(found.function_name) == len(found.function_file) == len(found.function_is_users):
        raise ValueError("the functions' columns differ in length")
    if len(found.place_function) != len(found.place_line):
        raise ValueError("the places' columns differ in length")
    rows = (
        (found.stack, stacks),
        (found.frame_place, len(found.place_line)),
        (found.place_function, len(found.function_name)),
    )
    if any(len(numbers) and not (numbers.min() >= 0 and numbers.max() < count) for numbers, count in rows):
        raise ValueError("a number is not that of a row")


def _ints(values: list[int]) -> Int64:
    numbers = np.array(values, dtype=np.int64)
    if numbers.ndim != 1:
        raise ValueError("not a list of numbers")
    return numbers
