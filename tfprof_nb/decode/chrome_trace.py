"""Read Chrome traces: TensorFlow 1's timelines, TensorFlow 2's ``trace.json.gz``, ours, and other programs'."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb.decode.brackets import match
from tfprof_nb.decode.chrome_json import ChromeEvents, Key, read_events
from tfprof_nb.decode.clock import read_clock
from tfprof_nb.decode.host import Host, StatValue
from tfprof_nb.decode.table import COLUMNS, PlaneStats, build_host
from tfprof_nb.decode.timeline import is_timeline, read_timeline

COUNTERS = "_counters_"
_INSTANTS = ("i", "I", "R")
_ASYNC_INSTANTS = ("n", "T", "p")
_ASYNC_OPENS, _ASYNC_CLOSES = ("b", "S"), ("e", "F")
_OBJECTS = ("N", "O", "D")
# A process of a trace of several hosts: "worker /device:GPU:0".
_HOST_BEFORE_PLANE = re.compile(r"(.+?) (?=/(?:host|device):)")


def read_chrome_trace(data: bytes, name: str, source: str = "") -> Host:
    """Decode a Chrome trace: complete, begin and end, asynchronous, instant and counter events.

    Processes become planes, threads lines. An asynchronous event stands on a line of its category, a counter's value
    on the line `COUNTERS`, without length. Flows are not kept. TensorFlow 1's timelines become what `timeline` says.

    Parameters
    ----------
    data
        The JSON: an object with ``traceEvents``, or an array of events, whose closing bracket may be missing.
    name
        The host's key.
    source
        What messages call the file; ``name`` when not given.

    Raises
    ------
    BadProfileError
        It is no JSON, cut short, no trace, or an event makes no sense.
    """
    trace = read_events(data, source or name)
    clock = read_clock(trace.frame, source or name)
    if is_timeline(trace):
        return read_timeline(trace, clock, name)
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


def _spans(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Turn phases into what happened from ``ts_us`` on for ``dur_us``; say what was still open in the end."""
    phase = frame["phase"]
    nested, open_nested = _matched(frame[phase.isin(["B", "E"])], ["pid", "tid"])
    overlapping, open_async = _async(frame[phase.isin([*_ASYNC_OPENS, *_ASYNC_CLOSES, *_ASYNC_INSTANTS])])
    counters = frame[phase == "C"]
    counters = counters.assign(name=(counters["name"] + " " + counters["id"].str.strip()).str.strip(), tid=COUNTERS)
    spans = pd.concat([frame[phase.isin(["X", *_INSTANTS])], nested, overlapping, counters]).sort_index(kind="stable")
    last_us = (frame["ts_us"] + frame["dur_us"]).max()
    spans["dur_us"] = spans["dur_us"].fillna(last_us - spans["ts_us"])
    still_open = open_nested + open_async
    note = f"{still_open:,} events were still open when the trace ended: they are taken to last until then."
    return spans, [note] if still_open else []


def _async(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Asynchronous events overlap as they like: each category has a line, and `_a` says that they do not nest."""
    asynchronous = pd.Series([{**args, "_a": 1} for args in frame["args"]], index=frame.index, dtype=object)
    marked = frame.assign(tid="async " + frame["cat"], args=asynchronous)
    # Those of the old kind, S and F, are told apart by their names, those of the new kind nest.
    marked["told_by"] = marked["name"].where(marked["phase"].isin(["S", "F"]), "")
    instants = marked["phase"].isin(_ASYNC_INSTANTS)
    spans, still_open = _matched(marked[~instants], ["cat", "id", "told_by"])
    return pd.concat([spans, marked[instants]]), still_open


def _matched(frame: pd.DataFrame, keys: list[str]) -> tuple[pd.DataFrame, int]:
    """Join the events that open with those that close them; count those that nothing closes."""
    group = np.asarray(frame.groupby(keys, sort=False).ngroup(), dtype=np.int64)
    opens = frame["phase"].isin(["B", *_ASYNC_OPENS]).to_numpy(bool)
    closing = match(group, opens)[opens]
    closed = closing >= 0
    opened, closers = frame[opens], frame.iloc[closing[closed]]
    end_us = np.full(len(opened), np.nan)
    end_us[closed] = closers["ts_us"]
    args = opened["args"].to_numpy(object).copy()
    merged = [{**one, **two} for one, two in zip(args[closed], closers["args"], strict=True)]
    args[closed] = merged
    return opened.assign(dur_us=end_us - opened["ts_us"], args=args), int((~closed).sum())


def _planes(trace: ChromeEvents, pids: Iterable[Key]) -> tuple[dict[Key, str], PlaneStats]:
    """Name each process's plane as a profile would; return the planes' stats too, where the trace has them."""
    names: dict[Key, str] = {}
    stats: dict[str, dict[str, StatValue]] = {}
    for pid in [*trace.processes, *pids]:
        if pid not in names:
            said = trace.processes.get(pid, {})
            name = str(said.get("name", f"process {pid}"))
            plane = _HOST_BEFORE_PLANE.sub("", name, count=1)
            names[pid] = plane if plane not in stats else f"{plane} ({name.removesuffix(plane).strip() or pid})"
            stats[names[pid]] = said["stats"] if isinstance(said.get("stats"), dict) else {}
    return names, stats


def _lines(trace: ChromeEvents, spans: pd.DataFrame) -> tuple[Objects, Int64]:
    """Return the name and the id of each event's line: its thread's, or those made up for what has no thread."""
    place = spans.groupby(["pid", "tid"], sort=False).ngroup().to_numpy(np.int64)
    _, first = np.unique(place, return_index=True)
    threads = list(zip(spans["pid"].iloc[first], spans["tid"].iloc[first], strict=True))
    said = [trace.threads.get(thread, {}) for thread in threads]
    names = [
        about.get("name", tid if isinstance(tid, str) else f"thread {tid}")
        for about, (_, tid) in zip(said, threads, strict=True)
    ]
    ids = [about.get("line_id", tid) for about, (_, tid) in zip(said, threads, strict=True)]
    usable = [number for number in ids if isinstance(number, int) and abs(number) < 1 << 62]
    made_up = count(max(usable, default=0) + 1)
    numbers = [number if isinstance(number, int) and abs(number) < 1 << 62 else next(made_up) for number in ids]
    return np.array([str(name) for name in names], dtype=object)[place], np.array(numbers, dtype=np.int64)[place]


def _left_out(trace: ChromeEvents) -> list[str]:
    """Say which events are not shown: those that tell nothing of when something ran, and objects' lives."""
    objects = trace.frame["phase"][trace.frame["phase"].isin(_OBJECTS)].value_counts()
    counts = {**trace.left_out, **{str(phase): int(number) for phase, number in objects.items()}}
    kinds = ", ".join(f"{number:,} of phase {phase}" for phase, number in counts.items())
    return [f"Not read were events that stand for no time on a thread: {kinds}."] if counts else []
