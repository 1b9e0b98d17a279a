"""The events of a Chrome trace's JSON as a frame, checked.

The format is https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
"""

import gc
import json
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Floats, Objects
from tfprof_nb._errors import BadProfileError
from tfprof_nb.decode.files import check_room

Key = Hashable

_MEMORY_PER_BYTE = 20
# Phases of events with a time. M names processes and threads; s, t and f are flows between events.
TIMED = frozenset("XBEbenSFTpiIRCNOD")
_UNTIMED = frozenset("Mstf")
# An escaped backslash or a complete surrogate pair (group 1), or else half of a pair.
_SURROGATES = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_MAX_KEYS, _MAX_LENGTH = 4, 30
_VALUES: dict[type, str] = {str: "text", list: "list", dict: "record"}
# By keys that are in all files of a kind, and in few others.
_OBJECTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"cells", "nbformat"}), "a Jupyter notebook"),
    (frozenset({"cols", "rows"}), "a table that TensorBoard's or XProf's profiler shows"),
    (frozenset({"memoryProfilePerAllocator"}), "the memory page that TensorFlow stored beside a profile"),
    (frozenset({"planes"}), "an XSpace written as JSON"),
    (frozenset({"stepStats"}), "a RunMetadata written as JSON"),
    (frozenset({"step_stats"}), "a RunMetadata written as JSON"),
    (frozenset({"class_name", "config"}), "the configuration of a Keras model or layer"),
    (frozenset({"nodes", "timeDeltas"}), "a CPU profile of V8 (Chrome, Node.js)"),
    (frozenset({"shared", "profiles"}), "a profile of speedscope"),
    (frozenset({"name", "version", "dependencies"}), "a package.json of npm"),
    (frozenset({"name", "version", "devDependencies"}), "a package.json of npm"),
    (frozenset({"name", "version", "scripts"}), "a package.json of npm"),
    (frozenset({"type", "features"}), "a GeoJSON file"),
    (frozenset({"compilerOptions"}), "a tsconfig.json of TypeScript"),
)


@dataclass(frozen=True, eq=False)
class ChromeEvents:
    """A Chrome trace.

    Attributes
    ----------
    frame
        The events with a time, in order of time: ``phase pid tid ts_us dur_us name cat id args``.
    processes, threads
        The ``args`` of the events that name processes, by pid, and threads, by pid and tid.
    left_out
        The number of other events by phase: they do not say when something ran.
    arrivals
        The ids of arrows from launches to devices, in PyTorch's traces, by the place and time where they arrive.
    about
        What the file says besides the events.
    """

    frame: pd.DataFrame
    processes: dict[Key, dict[str, Any]] = field(default_factory=dict)
    threads: dict[tuple[Key, Key], dict[str, Any]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    arrivals: dict[tuple[Key, Key, float], Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def base_ns(self) -> int:
        """Time 0 of the events in nanoseconds since 1970, as PyTorch writes it; 0 if the file does not say."""
        base = self.about.get("baseTimeNanoseconds", 0)
        return base if isinstance(base, int) and 0 <= base < 1 << 62 else 0


def read_events(data: bytes, source: str) -> ChromeEvents:
    """Parse the JSON of a trace: an object with ``traceEvents``, or an array, whose closing bracket may be missing.

    Raises
    ------
    BadProfileError
        It is not JSON, cut short, not a trace, or has an invalid event. The message calls the file ``source``.
    """
    check_room(len(data) * _MEMORY_PER_BYTE, source)
    with _no_garbage_collection():
        content = _parse(data, source)
        about = (
            {key: value for key, value in content.items() if key != "traceEvents"} if isinstance(content, dict) else {}
        )
        return replace(_read(_event_list(content, source), source), about=about)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Turn off garbage collection: with millions of new objects, none of them garbage, it takes longer than parsing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read(events: list[Any], source: str) -> ChromeEvents:
    phases = np.array([_phase(event, number, source) for number, event in enumerate(events)], dtype=object)
    timed = np.flatnonzero([phase in TIMED for phase in phases])
    named, arrows = np.flatnonzero(phases == "M"), np.flatnonzero(phases == "f")
    others = pd.Series([phase for phase in phases if phase and phase not in TIMED | _UNTIMED], dtype=object)
    return ChromeEvents(
        _frame([events[row] for row in timed], phases[timed], timed, source),
        {_key(e.get("pid")): _args(e) for e in (events[row] for row in named) if e.get("name") == "process_name"},
        {_place(e): _args(e) for e in (events[row] for row in named) if e.get("name") == "thread_name"},
        {str(phase): int(count) for phase, count in others.value_counts().items()},
        {
            (*_place(e), _number(e.get("ts"))): e.get("id")
            for e in (events[row] for row in arrows)
            if e.get("cat") == "ac2g"
        },
    )


def _parse(data: bytes, source: str) -> Any:
    if not data.strip():
        raise BadProfileError(f"{source}: the file is empty. Write the trace again.")
    try:
        text = _without_lone_surrogates(data.decode("utf-8-sig"))
        try:
            return json.loads(text, strict=False)
        except json.JSONDecodeError:
            if not text.lstrip().startswith("["):
                raise
            # The end of the array may be missing: programs leave it out so that they can append events.
            return json.loads(text.rstrip().rstrip(",") + "]", strict=False)
    except UnicodeDecodeError as error:
        raise BadProfileError(f"{source}: this is not JSON: byte {error.start} is not text.") from None
    except json.JSONDecodeError as error:
        raise BadProfileError(
            f"{source}: the JSON is cut short or damaged in line {error.lineno}, column {error.colno} ({error.msg}). "
            "Copy the file again, or write the trace again."
        ) from None
    except RecursionError:
        raise BadProfileError(f"{source}: this is not a Chrome trace: its JSON is nested too deeply.") from None
    except ValueError as error:  # a number of thousands of digits
        raise BadProfileError(f"{source}: this is not a Chrome trace: {error}.") from None


def _without_lone_surrogates(text: str) -> str:
    """Replace escaped halves of surrogate pairs, which shortened names can contain: no encoder accepts them."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _SURROGATES.sub(lambda match: match[1] or "\\ufffd", text)


def _event_list(content: Any, source: str) -> list[Any]:
    events = content.get("traceEvents") if isinstance(content, dict) else content
    # An array of nothing is what a program writes that was stopped at once.
    if isinstance(events, list) and (not events or any(isinstance(event, dict) and "ph" in event for event in events)):
        return events
    raise BadProfileError(
        f"{source}: this is JSON, but not a Chrome trace: it seems to be {kind_of_json(content)}. A trace is an array "
        "of events, each with its phase `ph`, or an object with such an array `traceEvents`. Load the file that the "
        "profiler wrote."
    )


def _phase(event: Any, number: int, source: str) -> str:
    """Return an event's phase; empty for the empty event at the end of TensorFlow's traces."""
    if not isinstance(event, dict) or not isinstance(event.get("ph", ""), str):
        raise BadProfileError(f"{source}: event {number} is not an event: {_short(event)}.")
    return str(event.get("ph", ""))


def _frame(events: list[dict[str, Any]], phases: Objects, number: Any, source: str) -> pd.DataFrame:
    def numbers(key: str, missing: float) -> Floats:
        return _numbers([event.get(key, missing) for event in events], key, events, number, source)

    ts_us, dur_us = numbers("ts", np.nan), numbers("dur", 0.0)
    frame = pd.DataFrame(
        {
            "phase": phases,
            "pid": _column(events, lambda event: _key(event.get("pid"))),
            "tid": _column(events, lambda event: _key(event.get("tid"))),
            "ts_us": ts_us,
            "dur_us": dur_us,
            "name": _column(events, lambda event: str(event.get("name", ""))),
            "cat": _column(events, lambda event: str(event.get("cat", ""))),
            "id": _column(events, _id),
            "args": _column(events, _args),
        }
    )
    return frame.sort_values("ts_us", kind="stable", ignore_index=True)


def _column(events: list[dict[str, Any]], of: Callable[[dict[str, Any]], Any]) -> Objects:
    column = np.empty(len(events), dtype=object)
    column[:] = [of(event) for event in events]
    return column


def _numbers(
    values: Sequence[Any], key: str, events: list[dict[str, Any]], number: npt.NDArray[Any], source: str
) -> Floats:
    """Return one time in us per event; texts with numbers, which some programs write, are accepted."""
    try:
        times = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        times = np.empty((0, 0))
    if times.ndim != 1:  # a value is a list or not a number
        times = np.array([_number(value) for value in values], dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(times))
    if len(bad):
        first = int(bad[0])
        raise BadProfileError(
            f'{source}: event {number[first]} has no usable time: its "{key}" is '
            f"{_short(events[first].get(key))}, in {_short(events[first])}."
        )
    return times


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _key(value: Any) -> Key:
    """Return a pid or tid: usually a number, sometimes a text; 0 if there is none."""
    return 0 if value is None else value if isinstance(value, int | str) else json.dumps(value)


def _place(event: dict[str, Any]) -> tuple[Key, Key]:
    return _key(event.get("pid")), _key(event.get("tid"))


def _id(event: dict[str, Any]) -> str:
    """Return an event's id within its category; a local id is unique only within its process."""
    local = event.get("id2", {})
    local = local.get("local") if isinstance(local, dict) else None
    if local is not None:
        return f"{event.get('pid')} {local}"
    return f"{event.get('scope', '')} {event.get('id', event.get('id2', ''))}"


def _args(event: dict[str, Any]) -> dict[str, Any]:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def kind_of_json(content: Any) -> str:
    """Say what JSON seems to be.

    Examples
    --------
    >>> kind_of_json([0.5, 0.25]), kind_of_json({"loss": [0.5], "val_loss": [0.75]})
    ('a list of numbers', 'the history of a training with Keras')
    """
    if isinstance(content, dict):
        return _kind_of_object(content)
    if not isinstance(content, list):
        return f"a single {_kind_of_value(content)}"
    if not content:
        return "an empty list"
    if isinstance(content[0], dict):
        # Of a table, TensorBoard's pages come as a list of one or several.
        known = _known(content[0])
        return f"a list of records {_keys(content[0])}" if known is None else f"{known}, in a list"
    kinds = list(dict.fromkeys(map(_kind_of_value, content)))
    return f"a list of {kinds[0]}s" if len(kinds) == 1 else "a list of values"


def _kind_of_object(content: dict[str, Any]) -> str:
    if known := _known(content):
        return known
    if content and all(isinstance(value, list) and value and all(map(_is_number, value)) for value in content.values()):
        losses = any(key.endswith("loss") for key in content)
        return "the history of a training with Keras" if losses else f"lists of numbers {_keys(content)}"
    return f"an object {_keys(content)}" if content else "an empty object"


def _known(content: dict[str, Any]) -> str | None:
    return next((kind for keys, kind in _OBJECTS if keys <= content.keys()), None)


def _keys(content: dict[str, Any]) -> str:
    names = [key if len(key) <= _MAX_LENGTH else f"{key[:_MAX_LENGTH]}..." for key in list(content)[:_MAX_KEYS]]
    more = ", ..." if len(content) > _MAX_KEYS else ""
    return f"with the keys {', '.join(names)}{more}" if names else "without keys"


def _kind_of_value(value: Any) -> str:
    if _is_number(value):
        return "number"
    return _VALUES.get(type(value), "value")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
