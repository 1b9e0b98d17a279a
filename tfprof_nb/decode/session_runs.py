"""Arrange the `session.run` calls that TensorFlow 1 traced, in a timeline or in RunMetadata, as a profile.

Both have a list per device of which op ran when. A kernel of a GPU is in three: that of the op that launched it
(``gpu:0``), ``stream:all``, and its stream (``stream:7``); a copy is in its op's, in ``memcpy`` and in its stream. Here
ops are work of the host, on lines of ``/host:CPU``. On devices the streams count; other lines are marked as derived.
Each run is a step, on a line `RUNS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.decode.host import Host
from tfprof_nb.decode.table import COLUMNS, PlaneStats, build_host
from tfprof_nb.formats.files import WARM_UP
from tfprof_nb.formats.marks import ROOT, SESSION_RUN, STEP_NUMBER, WARM_UP_RUN
from tfprof_nb.formats.xspace import ALLOCATION, DEALLOCATION, HOST_PLANE

RUNS = "session runs"
NODE_COLUMNS = ["device", "thread", "node", "op", "kernel", "start_ps", "duration_ps", "args"]
TENSOR_COLUMNS = ["name", "allocator", "requested_bytes", "shape", "data_type", "start_ps", "end_ps"]

_ALLOCATORS = "allocators"
_ACCELERATORS = ("GPU", "TPU")
_SOURCE = "_SOURCE"
_NUMBERS = ("_ps", "_bytes", "data_type")
_DEVICE = re.compile(
    r"(?P<task>/job:[^/]+/replica:\d+/task:\d+)?/(?:device:)?(?P<kind>\w+):(?P<index>\d+)(?:/(?P<part>.+))?"
)
# The first id of a device's derived lines, which are made from other lines: see `trace_utils.h`.
_FIRST_DERIVED_LINE = -559038737 + 290

_BETWEEN = (
    "This is a trace of session.run calls. What the program did between them, such as preparing the next batch, is "
    "not known."
)
_LAUNCHES = "GPU ops are shown on the host, with the time it took to launch them, and on the device, as kernels."


class _Place(NamedTuple):
    """The plane and line of a device's list; ``again`` if other lines of the plane show the same."""

    plane: str
    line: str
    on_device: bool = False
    again: bool = False


def arrange(
    name: str,
    nodes: pd.DataFrame,
    tensors: pd.DataFrame,
    origin_ns: int,
    notes: Iterable[str] = (),
    *,
    starts: Int64 | None = None,
    in_session: bool = True,
) -> Host:
    """Make one host's profile from executed nodes.

    Parameters
    ----------
    nodes
        One row per execution, with `NODE_COLUMNS`: ``device`` as TensorFlow names it, ``thread`` by number.
    tensors
        One row per tensor, with `TENSOR_COLUMNS`: it lived from ``start_ps`` to ``end_ps``.
    origin_ns, notes
        See `Host`.
    starts
        When each run begins (ps); by default as `_run_starts` finds it.
    in_session
        Whether the nodes are those of `session.run` calls, each of which becomes a step.
    """
    # Frames without rows have no types.
    nodes, tensors = nodes.astype(_types_of(nodes)), tensors.astype(_types_of(tensors))
    starts = _run_starts(nodes) if starts is None else starts
    nodes = nodes.assign(run=_run_of(starts, nodes["start_ps"]))
    places = _places(nodes["device"].unique())
    parts = [_op_rows(nodes, places), _memory_rows(tensors, _run_of(starts, tensors["start_ps"]))]
    parts = [_run_rows(nodes, warm_up=name.endswith(WARM_UP)), *parts] if in_session else parts
    rows = pd.concat(parts, ignore_index=True)
    planes: PlaneStats = {plane: {} for plane in [HOST_PLANE, *_accelerators(places), *rows["plane"]]}
    launches = [_LAUNCHES] if any(place.on_device for place in places.values()) else []
    between = [_BETWEEN] if in_session else []
    return build_host(name, rows[COLUMNS], planes, origin_ns=origin_ns, notes=(*notes, *between, *launches))


def _types_of(frame: pd.DataFrame) -> dict[str, type]:
    return {name: np.int64 if name.endswith(_NUMBERS) else object for name in frame.columns}


def _run_starts(nodes: pd.DataFrame) -> Int64:
    """Return when each run begins, in picoseconds.

    A run begins when every device is idle and a device runs a node `_SOURCE` that it has already run. Functions have
    such nodes, too, but run inside another node.
    """
    nodes = nodes.sort_values("start_ps", kind="stable")
    busy_until = (nodes["start_ps"] + nodes["duration_ps"]).cummax().shift(fill_value=0)
    sources = nodes.assign(idle=nodes["start_ps"] >= busy_until)[nodes["node"] == _SOURCE]
    starts, seen = [int(nodes["start_ps"].min())] if len(nodes) else [0], set[str]()
    for device, start, idle in zip(sources["device"], sources["start_ps"], sources["idle"], strict=True):
        if idle and device in seen:
            starts.append(int(start))
            seen.clear()
        seen.add(device)
    return np.array(starts, dtype=np.int64)


def _run_of(starts: Int64, times: pd.Series[Any]) -> npt.NDArray[np.intp]:
    """Return the number of the run at each time."""
    return np.searchsorted(starts, times.to_numpy(np.int64), side="right").clip(1) - 1


def _places(devices: Iterable[str]) -> dict[str, _Place]:
    matches = {str(device): _DEVICE.fullmatch(str(device)) for device in devices}
    found = [match.groupdict() for match in matches.values() if match]
    several = len({device["task"] for device in found if device["task"]}) > 1
    streams = {(device["task"], device["index"]) for device in found if _is_stream(device["part"])}
    return {name: _place(name, match, streams, several) for name, match in matches.items()}


def _place(name: str, match: re.Match[str] | None, streams: set[tuple[str, str]], several: bool) -> _Place:
    if match is None:
        return _Place(HOST_PLANE, name)
    kind, part = match["kind"].upper(), match["part"]
    of_task = f" ({match['task'].strip('/')})" if several and match["task"] else ""
    if part is None:
        what = "launches" if kind in _ACCELERATORS else "ops"
        return _Place(HOST_PLANE + of_task, f"{kind}:{match['index']} {what}")
    again = not _is_stream(part) and (match["task"], match["index"]) in streams
    return _Place(f"/device:{kind}:{match['index']}{of_task}", part, on_device=True, again=again)


def _is_stream(part: str | None) -> bool:
    return part is not None and part.startswith("stream:") and part != "stream:all"


def _accelerators(devices: Iterable[str]) -> list[str]:
    """Return the planes of accelerators that ran ops, even if nothing was recorded on them."""
    found = [_DEVICE.fullmatch(device) for device in devices]
    used = {(match["kind"].upper(), match["index"]) for match in found if match}
    return [f"/device:{kind}:{index}" for kind, index in sorted(used) if kind in _ACCELERATORS]


def _run_rows(nodes: pd.DataFrame, *, warm_up: bool) -> pd.DataFrame:
    spans = nodes.assign(end_ps=nodes["start_ps"] + nodes["duration_ps"]).groupby("run")
    start, end = spans["start_ps"].min(), spans["end_ps"].max()
    warming = {WARM_UP_RUN: 1} if warm_up else {}
    marks = [
        {STEP_NUMBER: run, "step_name": f"{SESSION_RUN} {run}", "group_id": run, ROOT: 1} | warming
        for run in start.index.tolist()
    ]
    rows = pd.DataFrame({"start_ps": start, "duration_ps": end - start, "args": marks})
    return rows.assign(plane=HOST_PLANE, line=RUNS, line_id=1, name=SESSION_RUN, display_name=SESSION_RUN)


def _op_rows(nodes: pd.DataFrame, places: dict[str, _Place]) -> pd.DataFrame:
    at = [places[device] for device in nodes["device"]]
    on_device = np.array([place.on_device for place in at], dtype=bool)
    labels = nodes["node"] + ":" + nodes["op"]
    stats = zip(nodes["args"], nodes["node"], nodes["run"].tolist(), strict=True)
    args = [{**own, "node_name": node, "group_id": run} for own, node, run in stats]
    for row in np.flatnonzero(on_device).tolist():
        args[row] |= {"tf_op": labels.iloc[row], "correlation_id": row}
    return pd.DataFrame(
        {
            "plane": [place.plane for place in at],
            "line": [f"{place.line}/{thread}" for place, thread in zip(at, nodes["thread"], strict=True)],
            "line_id": _line_ids(at, nodes["thread"]),
            "name": np.where(on_device, nodes["kernel"], labels),
            "display_name": np.where(on_device, nodes["kernel"], nodes["op"]),
            "start_ps": nodes["start_ps"],
            "duration_ps": nodes["duration_ps"],
            "args": args,
        }
    )


def _line_ids(places: list[_Place], threads: pd.Series[Any]) -> list[int]:
    counted, derived = count(2), count(_FIRST_DERIVED_LINE)
    ids: dict[tuple[_Place, Any], int] = {}
    for key in dict.fromkeys(zip(places, threads, strict=True)):
        ids[key] = next(derived if key[0].again else counted)
    return [ids[key] for key in zip(places, threads, strict=True)]


def _memory_rows(tensors: pd.DataFrame, run: npt.NDArray[np.intp]) -> pd.DataFrame:
    """Return an allocation and a deallocation per tensor; memory in use is counted per run and allocator."""
    made = tensors.assign(run=run, address=np.arange(1, len(tensors) + 1), sign=1, time_ps=tensors["start_ps"])
    freed = made.assign(sign=-1, time_ps=made["end_ps"])
    events = pd.concat([made, freed], ignore_index=True)
    # At equal times memory is freed first, as in TensorFlow's own counters.
    events = events.sort_values(["time_ps", "sign"], kind="stable", ignore_index=True)
    change = events["sign"] * events["requested_bytes"].astype(np.int64)
    events["bytes_allocated"] = change.groupby([events["run"], events["allocator"]]).cumsum()
    stats = events.assign(
        allocator_name=events["allocator"],
        allocation_bytes=events["requested_bytes"],
        addr=events["address"],
        tf_op=events["name"],
        group_id=events["run"],
        region_type="output",
    )[_MEMORY_STATS]
    names = np.where(events["sign"] > 0, ALLOCATION, DEALLOCATION).astype(object)
    rows = pd.DataFrame({"start_ps": events["time_ps"], "duration_ps": 0, "args": stats.to_dict("records")})
    return rows.assign(plane=HOST_PLANE, line=_ALLOCATORS, line_id=0, name=names, display_name=names)


_MEMORY_STATS = [
    "allocator_name",
    "bytes_allocated",
    "requested_bytes",
    "allocation_bytes",
    "addr",
    "tf_op",
    "shape",
    "data_type",
    "region_type",
    "group_id",
]
