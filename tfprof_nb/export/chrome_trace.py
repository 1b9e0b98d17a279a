"""A profile as a Chrome trace, the JSON that Perfetto and chrome://tracing open.

The format is https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. As TensorFlow does it,
planes are processes, lines are threads, stats are arguments; and the names of processes and threads carry the planes'
stats and the lines' ids, so that `decode.chrome_trace` reads the same profile.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb._units import PS_PER_US
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.links import forward_links
from tfprof_nb.analysis.trace.counters import Counter
from tfprof_nb.decode import Host

_EXACT_IN_JAVASCRIPT = 1 << 53
_MAX_WHOLE = 2.0**64  # larger numbers are no whole numbers of a profile
_LONG_NAME = "long_name"
_BLOCK = 1 << 16


def write_chrome_trace(target: Path, forests: Sequence[Forest], counters: Sequence[Counter] = ()) -> None:
    """Write a Chrome trace, compressed if the name ends in ``.gz``. Parameters are those of `chrome_trace`."""
    with gzip.open(target, "wb", 1) if target.suffix == ".gz" else target.open("wb") as stream:
        stream.writelines(text.encode() for text in chrome_trace(forests, counters))


def chrome_trace(forests: Sequence[Forest], counters: Sequence[Counter] = ()) -> Iterator[str]:
    """Yield the text of a Chrome trace, piece by piece.

    Parameters
    ----------
    forests
        One per host. With several, a process is named after its host and its plane.
    counters
        Quantities to draw over time; each belongs to the first process of its host.
    """
    yield '{"displayTimeUnit":"ns","traceEvents":[\n'
    first_pid, several = 1, len(forests) > 1
    for forest in (Forest(forest.host.complete()) for forest in forests):
        host = forest.host
        mine = [counter for counter in counters if counter.host in ("", host.name)]
        yield from _lines_of(_headers(host, first_pid, several))
        yield from _lines_of(_slices(forest, first_pid))
        yield from _lines_of(_flows(forest, first_pid))
        for counter in mine if several or first_pid == 1 else ():
            yield from _lines_of(_counter(counter, first_pid))
        first_pid += max(len(host.planes), 1)
    # As in TensorFlow's traces, an empty event comes last, so that every other event can end in a comma.
    yield "{}\n]}\n"


def _lines_of(events: Objects) -> Iterator[str]:
    for first in range(0, len(events), _BLOCK):
        yield ",\n".join([*events[first : first + _BLOCK], ""])


def _headers(host: Host, first_pid: int, several: bool) -> Objects:
    """Name processes and threads, and say in which order to show them."""
    events: list[dict[str, Any]] = []
    for pid, plane in enumerate(host.planes, first_pid):
        stats = {name: value for name, value in plane.stats.items() if not isinstance(value, bytes)}
        label = f"{host.name} {plane.name}" if several else plane.name
        events.append({"name": "process_name", "pid": pid, "args": {"name": label, "stats": stats}})
        events.append({"name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}})
    for tid, line in enumerate(host.lines, 1):
        place = {"pid": first_pid + line.plane, "tid": tid}
        events.append({"name": "thread_name", **place, "args": {"name": line.name, "line_id": line.id}})
        events.append({"name": "thread_sort_index", **place, "args": {"sort_index": tid}})
    return _texts(json.dumps({"ph": "M", **event}, separators=(",", ":")) for event in events)


def _places(host: Host, first_pid: int) -> Objects:
    """Return the process and thread of each line's events."""
    return _texts(f'"pid":{first_pid + line.plane},"tid":{tid}' for tid, line in enumerate(host.lines, 1))


def _slices(forest: Forest, first_pid: int) -> Objects:
    """Write every event with its start, its length and its stats."""
    host = forest.host
    heads = '{"ph":"X",' + _places(host, first_pid) + ',"ts":'
    names = ',"name":' + _texts(map(json.dumps, host.display_names))
    start, length = _microseconds(host.start_ps), _microseconds(host.duration_ps)
    slices: Objects = heads[host.line] + start + ',"dur":' + length + names[host.metadata] + _arguments(host)
    return slices[~forest.are_counters]


def _arguments(host: Host) -> Objects:
    """Write each event's stats, and its full name if a short one is shown; close the event."""
    full = ',"args":{"' + _LONG_NAME + '":' + _texts(map(json.dumps, host.names))
    written = np.where(host.names == host.display_names, "", full)[host.metadata]
    begun = (host.names != host.display_names)[host.metadata]
    for stat in host.stat_names():
        if stat != _LONG_NAME:
            for rows, values in (_number_texts(host, stat), _text_texts(host, stat)):
                key = json.dumps(stat) + ":"
                written[rows] += np.where(begun[rows], "," + key, ',"args":{' + key) + values
                begun[rows] = True
    closed: Objects = written + np.where(begun, "}}", "}")
    return closed


def _number_texts(host: Host, stat: str) -> tuple[Int64, Objects]:
    """Write a stat's numbers; those that JavaScript would round are written as texts."""
    exact = host.floats(stat)
    rows, numbers = exact.rows.astype(np.int64), exact.values.astype(np.float64)
    values = host.ints(stat).at(rows).astype(np.int64)
    texts = _texts(map(str, values.tolist()))
    large = np.abs(values) >= _EXACT_IN_JAVASCRIPT
    texts[large] = '"' + texts[large] + '"'
    with np.errstate(invalid="ignore"):  # infinity has no remainder
        broken = np.flatnonzero((numbers % 1 != 0) | (np.abs(numbers) > _MAX_WHOLE))
    texts[broken] = _texts(map(_float, numbers[broken].tolist()))
    return rows, texts


def _text_texts(host: Host, stat: str) -> tuple[Int64, Objects]:
    found = host.texts(stat)
    if found.categories is None or not len(found.rows):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=object)
    return found.rows.astype(np.int64), _texts(map(json.dumps, found.categories))[found.values.astype(np.int64)]


def _flows(forest: Forest, first_pid: int) -> Objects:
    """Write an arrow from each cause to each effect, from start to start."""
    causes, effects = forest.once(forward_links)
    host, places = forest.host, _places(forest.host, first_pid)
    # Arrows with equal ids would join: the host's first process makes ids unique among hosts.
    number = _texts(f',"cat":"flow","name":"flow","id":"{first_pid}.{flow}"}}' for flow in range(len(causes)))
    ends = []
    for phase, rows in (('{"ph":"s",', causes), ('{"ph":"f","bp":"e",', effects)):
        ends.append(phase + places[host.line[rows]] + ',"ts":' + _microseconds(host.start_ps[rows]) + number)
    return np.concatenate(ends)


def _counter(counter: Counter, pid: int) -> Objects:
    head = f'{{"ph":"C","pid":{pid},"name":{json.dumps(counter.name)},"ts":'
    key = f',"args":{{{json.dumps(counter.unit or "value")}:'
    known = np.isfinite(counter.values)
    times = _microseconds(counter.times_ps[known])
    events: Objects = head + times + key + _texts(map(_float, counter.values[known].tolist())) + "}}"
    return events


def _microseconds(times_ps: Int64) -> Objects:
    """Write times exactly: up to two hours a float has the digits for picoseconds."""
    return _texts(map(repr, (times_ps / PS_PER_US).tolist()))


def _float(value: float) -> str:
    return repr(value) if np.isfinite(value) else f'"{value}"'


def _texts(texts: Any) -> Objects:
    found = list(texts)
    column = np.empty(len(found), dtype=object)
    column[:] = found
    return column
