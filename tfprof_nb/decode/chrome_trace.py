"""Read Chrome traces: TensorFlow 1's timelines, TensorFlow 2's ``trace.json.gz``, ours, and other programs'."""

import re
from collections.abc import Iterable
from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64, Objects
from tfprof_nb.decode.chrome_json import ChromeEvents, Key, read_events
from tfprof_nb.decode.clock import read_clock
from tfprof_nb.decode.host import Host, StatValue
from tfprof_nb.decode.kineto import as_profile, is_kineto
from tfprof_nb.decode.table import COLUMNS, PlaneStats, build_host
from tfprof_nb.decode.timeline import is_timeline, read_timeline
from tfprof_nb.formats.xspace import ASYNCHRONOUS, COUNTERS

_INSTANTS = ("i", "I", "R")
_ASYNC_INSTANTS = ("n", "T", "p")
_ASYNC_OPENS, _ASYNC_CLOSES = ("b", "S"), ("e", "F")
_OBJECTS = ("N", "O", "D")
# In the name of a process in a trace of several hosts, "worker /device:GPU:0", what comes before the plane.
_BEFORE_PLANE = re.compile(r" (?=/(?:host|device):)")


def read_chrome_trace(data: bytes, name: str, source: str = "") -> Host:
    """Decode a Chrome trace: complete, begin and end, asynchronous, instant and counter events.

    Processes become planes, threads become lines. Asynchronous events are on a line of their category, values of
    counters on the line `COUNTERS`, without duration. Flows are dropped. TensorFlow 1's timelines are read by
    `timeline`.

    Parameters
    ----------
    data
        The JSON: an object with ``traceEvents``, or an array of events, whose closing bracket may be missing.

    Raises
    ------
    BadProfileError
        It is not JSON, cut short, not a trace, or has an invalid event.
    """
    trace = read_events(data, source or name)
    of_tensorflow = is_timeline(trace) or any(_is_plane(process) for process in trace.processes.values())
    clock = read_clock(trace.frame, source or name, of_tensorflow=of_tensorflow, base_ns=trace.base_ns)
    if is_timeline(trace):
        return read_timeline(trace, clock, name)
    trace = as_profile(trace) if is_kineto(trace) else trace
    spans, notes = _spans(trace.frame)
    planes, stats = _planes(trace, spans["pid"])
    rows = spans.assign(
        plane=spans["pid"].map(planes),
        start_ps=clock.start_ps(spans["ts_us"]),
        duration_ps=clock.length_ps(spans["dur_us"]),
        display_name=spans["name"],
        name=[args.get("long_name", short) for args, short in zip(spans["args"], spans["name"], strict=True)],
    )
    rows["name"] = rows["name"].astype(str)
    rows["line"], rows["line_id"] = _lines(trace, spans)
    return build_host(
        name, rows[COLUMNS], stats, origin_ns=clock.origin_ns, notes=(*notes, *_left_out(trace), *clock.notes)
    )


def _is_plane(process: dict[str, Any]) -> bool:
    """Whether a process is a plane of TensorFlow's profiler, by its name."""
    return re.search(r"(?:^| )/(?:host|device):", str(process.get("name", ""))) is not None


def _spans(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return events with ``ts_us`` and ``dur_us``, whatever their phases, and notes on those never closed."""
    phase = frame["phase"]
    nested, open_nested = _matched(frame[phase.isin(["B", "E"])], ["pid", "tid"])
    overlapping, open_async = _async(frame[phase.isin([*_ASYNC_OPENS, *_ASYNC_CLOSES, *_ASYNC_INSTANTS])])
    counters = frame[phase == "C"]
    counters = counters.assign(name=(counters["name"] + " " + counters["id"].str.strip()).str.strip(), tid=COUNTERS)
    spans = pd.concat([frame[phase.isin(["X", *_INSTANTS])], nested, overlapping, counters]).sort_index(kind="stable")
    last_us = (frame["ts_us"] + frame["dur_us"]).max()
    spans["dur_us"] = spans["dur_us"].fillna(last_us - spans["ts_us"])
    still_open = open_nested + open_async
    note = f"{still_open:,} events were still open when the trace ended: they are shown as lasting until then."
    return spans, [note] if still_open else []


def _async(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Put asynchronous events on a line of their category, marked as `ASYNCHRONOUS`: they overlap without nesting."""
    asynchronous = pd.Series([{**args, ASYNCHRONOUS: 1} for args in frame["args"]], index=frame.index, dtype=object)
    marked = frame.assign(tid="async " + frame["cat"], args=asynchronous)
    # Events of the old phases, S and F, are matched by name, too; those of the new phases nest.
    marked["matched_by"] = marked["name"].where(marked["phase"].isin(["S", "F"]), "")
    instants = marked["phase"].isin(_ASYNC_INSTANTS)
    spans, still_open = _matched(marked[~instants], ["cat", "id", "matched_by"])
    return pd.concat([spans, marked[instants]]), still_open


def _matched(frame: pd.DataFrame, keys: list[str]) -> tuple[pd.DataFrame, int]:
    """Join opening events with their closing events; count those that are never closed."""
    group = np.asarray(frame.groupby(keys, sort=False).ngroup(), dtype=np.int64)
    opens = frame["phase"].isin(["B", *_ASYNC_OPENS]).to_numpy(bool)
    closing = _match(group, opens)[opens]
    closed = closing >= 0
    opened, closers = frame[opens], frame.iloc[closing[closed]]
    end_us = np.full(len(opened), np.nan)
    end_us[closed] = closers["ts_us"]
    args = opened["args"].to_numpy(object).copy()
    merged = [{**begin, **end} for begin, end in zip(args[closed], closers["args"], strict=True)]
    args[closed] = merged
    return opened.assign(dur_us=end_us - opened["ts_us"], args=args), int((~closed).sum())


def _planes(trace: ChromeEvents, pids: Iterable[Key]) -> tuple[dict[Key, str], PlaneStats]:
    """Return the plane of each process, named as in a profile, and the planes' stats, if the trace has any."""
    names: dict[Key, str] = {}
    stats: dict[str, dict[str, StatValue]] = {}
    for pid in [*trace.processes, *pids]:
        if pid not in names:
            args = trace.processes.get(pid, {})
            name = str(args.get("name", f"process {pid}"))
            host = _BEFORE_PLANE.search(name, 1)
            plane = name[host.end() :] if host else name
            names[pid] = plane if plane not in stats else f"{plane} ({name.removesuffix(plane).strip() or pid})"
            stats[names[pid]] = args["stats"] if isinstance(args.get("stats"), dict) else {}
    return names, stats


def _lines(trace: ChromeEvents, spans: pd.DataFrame) -> tuple[Objects, Int64]:
    """Return the name and the id of each event's line: those of its thread, or invented ones."""
    place = spans.groupby(["pid", "tid"], sort=False).ngroup().to_numpy(np.int64)
    _, first = np.unique(place, return_index=True)
    threads = list(zip(spans["pid"].iloc[first], spans["tid"].iloc[first], strict=True))
    args = [trace.threads.get(thread, {}) for thread in threads]
    names = [
        own.get("name", tid if isinstance(tid, str) else f"thread {tid}")
        for own, (_, tid) in zip(args, threads, strict=True)
    ]
    ids = [own.get("line_id", tid) for own, (_, tid) in zip(args, threads, strict=True)]
    usable = [number for number in ids if isinstance(number, int) and abs(number) < 1 << 62]
    invented = count(max(usable, default=0) + 1)
    numbers = [number if isinstance(number, int) and abs(number) < 1 << 62 else next(invented) for number in ids]
    return np.array([str(name) for name in names], dtype=object)[place], np.array(numbers, dtype=np.int64)[place]


def _left_out(trace: ChromeEvents) -> list[str]:
    """Return a note on the events that are not shown: those without a time, and those of objects' lives."""
    objects = trace.frame["phase"][trace.frame["phase"].isin(_OBJECTS)].value_counts()
    counts = {**trace.left_out, **{str(phase): int(number) for phase, number in objects.items()}}
    kinds = ", ".join(f"{number:,} of phase {phase}" for phase, number in counts.items())
    return [f"Events that have no time on a thread were not read: {kinds}."] if counts else []


def _match(group: Int64, opens: Bools) -> Int64:
    """Return for each event the event that closes it: in each group, the last one opened is closed first.

    Parameters
    ----------
    group
        The group of each event; only events of the same group match. Events are in order of time.
    opens
        Whether each event opens or closes.

    Returns
    -------
    array
        The row of each event's closing event; -1 for events that are never closed, and for closing events.

    Examples
    --------
    >>> _match(np.array([0, 0, 0, 0, 0]), np.array([False, True, True, False, True])).tolist()
    [-1, -1, 3, -1, -1]
    """
    order = np.argsort(group, kind="stable")
    groups, step = pd.Series(group[order]), pd.Series(np.where(opens[order], 1, -1))
    level = step.groupby(groups).cumsum()
    # A closing event without an opening one would take the level below its lowest so far: it is ignored.
    depth = level - level.groupby(groups).cummin().clip(upper=0) + (step < 0)
    # An event and its closing event have the same depth, and no other event of that depth lies between them.
    pairs = order[np.lexsort((depth.to_numpy(), groups.to_numpy()))]
    depth_of = np.empty(len(order), dtype=np.int64)
    depth_of[order] = depth
    first, second = pairs[:-1], pairs[1:]
    same = (group[first] == group[second]) & (depth_of[first] == depth_of[second]) & opens[first] & ~opens[second]
    closing = np.full(len(group), -1, dtype=np.int64)
    closing[first[same]] = second[same]
    return closing
