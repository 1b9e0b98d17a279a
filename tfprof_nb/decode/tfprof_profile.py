"""Read tfprof's own profiles: the `ProfileProto` that ``Profiler.serialize_to_string`` and ``ProfileContext`` wrote."""

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._errors import BadProfileError
from tfprof_nb._units import PS_PER_NS, PS_PER_US
from tfprof_nb.decode.files import check_room
from tfprof_nb.decode.host import Host, plausible_ns
from tfprof_nb.decode.session_runs import NODE_COLUMNS, TENSOR_COLUMNS, arrange
from tfprof_nb.formats.protobuf import Messages

_MEMORY_PER_BYTE = 20
_MAX_US = 10**12
_NOTE = (
    "This is tfprof's own profile: the ops' times of each step. Its bytes, parameters and operations are not read; "
    "tp.Profiler has them from the graph and the RunMetadata."
)

# Fields of the messages in tensorflow/core/profiler/tfprof_log.proto; entries of maps are messages.
_MESSAGES = Messages(
    """
message ProfileProto {
    repeated NodeEntry nodes = 1;
    repeated int64 steps = 3;
}
message NodeEntry {
    int64 key = 1;
    ProfileNode value = 2;
}
message ProfileNode {
    string name = 1;
    string op = 9;
    repeated ExecEntry execs = 12;
}
message ExecEntry {
    int64 key = 1;
    ExecProfile value = 2;
}
message ExecProfile {
    int64 all_start_micros = 2;
    repeated TimeEntry accelerator_execs = 4;
    repeated TimeEntry cpu_execs = 5;
}
message TimeEntry {
    string key = 1;
    ExecTime value = 2;
}
message ExecTime {
    repeated Tuple times = 1;
}
message Tuple {
    repeated int64 int64_values = 1;
}
"""
)


def read_tfprof_profile(data: bytes, name: str, source: str = "") -> Host:
    """Decode a `ProfileProto`: when each node ran, step by step.

    Raises
    ------
    BadProfileError
        It is cut short, or no step of it was traced.
    """
    from google.protobuf.message import DecodeError

    check_room(len(data) * _MEMORY_PER_BYTE, source or name)
    try:
        message = _MESSAGES["ProfileProto"].FromString(data)
    except DecodeError:
        raise BadProfileError(f"{source or name}: this profile of tfprof is cut short. Copy it again.") from None
    runs = pd.DataFrame(_runs(message), columns=["step", "device", "node", "op", "start_us", "duration_us"])
    if runs.empty:
        raise BadProfileError(
            f"{source or name}: no step of this profile of tfprof was traced. Give `add_step` the RunMetadata of runs "
            "with trace_level=FULL_TRACE."
        )
    zero_us = int(runs["start_us"].min())
    if int((runs["start_us"] + runs["duration_us"]).max()) - zero_us > _MAX_US:
        raise BadProfileError(f"{source or name}: the nodes' times span more than 11 days: the file is damaged.")
    runs = runs.sort_values("start_us", kind="stable", ignore_index=True)
    nodes = runs.assign(
        thread=_lanes(runs),
        kernel=runs["op"],
        start_ps=(runs["start_us"] - zero_us) * PS_PER_US,
        duration_ps=runs["duration_us"] * PS_PER_US,
        args=pd.Series([{}] * len(runs), dtype=object),
    )
    starts = np.sort(nodes.groupby("step")["start_ps"].min().to_numpy(np.int64))
    origin_ns = plausible_ns(zero_us * (PS_PER_US // PS_PER_NS))
    return arrange(name, nodes[NODE_COLUMNS], pd.DataFrame(columns=TENSOR_COLUMNS), origin_ns, [_NOTE], starts=starts)


def _runs(message: Any) -> Iterator[tuple[int, str, str, str, int, int]]:
    """Yield each time that a node ran: its step, device, name and op, and start and duration in microseconds."""
    for node in (entry.value for entry in message.nodes):
        for step in node.execs:
            for times in (*step.value.accelerator_execs, *step.value.cpu_execs):
                for time in times.value.times:
                    if len(time.int64_values) == 2 and 0 <= time.int64_values[0] < 1 << 62:
                        start, duration = time.int64_values
                        yield (
                            step.key,
                            times.key,
                            node.name,
                            node.op or "unknown",
                            start,
                            min(max(duration, 0), 1 << 61),
                        )


def _lanes(runs: pd.DataFrame) -> Int64:
    """Return a lane for each run, of those ordered by start: runs of one device that overlap get different lanes."""
    lanes = np.zeros(len(runs), dtype=np.int64)
    busy: dict[str, list[tuple[int, int]]] = {}
    columns = (runs[name].tolist() for name in ("device", "start_us", "duration_us"))
    for row, (device, start, duration) in enumerate(zip(*columns, strict=True)):
        ends = busy.setdefault(device, [])
        lanes[row] = heapq.heappop(ends)[1] if ends and ends[0][0] <= start else len(ends)
        heapq.heappush(ends, (start + duration, int(lanes[row])))
    return lanes
