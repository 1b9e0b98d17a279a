"""Read TensorFlow 1's timelines: Chrome traces with a process per device, and the lifetimes of tensors."""

import re
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb.decode import data_types
from tfprof_nb.decode.chrome_json import ChromeEvents
from tfprof_nb.decode.clock import Clock
from tfprof_nb.decode.host import Host
from tfprof_nb.decode.session_runs import NODE_COLUMNS, TENSOR_COLUMNS, arrange

_COMPUTE = " Compute"
_NO_TENSORS = (
    "This timeline has no memory data: write it with "
    "Timeline(step_stats).generate_chrome_trace_format(show_memory=True)."
)
_SIZE = re.compile(r"\bsize: (-?\d+)")
_SHAPE = re.compile(r"\bshape \{")


def is_timeline(trace: ChromeEvents) -> bool:
    """Whether a Chrome trace is a timeline of TensorFlow 1, by the names of its processes."""
    return any(str(about.get("name", "")).endswith(_COMPUTE) for about in trace.processes.values())


def read_timeline(trace: ChromeEvents, clock: Clock, name: str) -> Host:
    """Return a timeline as `session_runs.arrange` does, with tensors from the events of their lifetimes."""
    tensors = _tensors(trace, clock)
    notes = clock.notes if len(tensors) else (*clock.notes, _NO_TENSORS)
    return arrange(name, _nodes(trace, clock), tensors, clock.origin_ns, notes)


def _nodes(trace: ChromeEvents, clock: Clock) -> pd.DataFrame:
    events = trace.frame[trace.frame["phase"] == "X"]
    devices = {pid: str(about.get("name", pid)).removesuffix(_COMPUTE) for pid, about in trace.processes.items()}
    op = [_named(args, "op", name) for args, name in zip(events["args"], events["name"], strict=True)]
    return pd.DataFrame(
        {
            "device": [devices.get(pid, f"process {pid}") for pid in events["pid"]],
            "thread": events["tid"],
            "node": [_named(args, "name", name) for args, name in zip(events["args"], events["name"], strict=True)],
            "op": op,
            "kernel": [_named(args, "kernel", name) for args, name in zip(events["args"], op, strict=True)],
            "start_ps": clock.start_ps(events["ts_us"]),
            "duration_ps": clock.length_ps(events["dur_us"]),
            "args": [{key: args[key] for key in args if key.startswith("input")} for args in events["args"]],
        },
        columns=NODE_COLUMNS,
    ).reset_index(drop=True)


def _named(args: dict[str, Any], key: str, otherwise: str) -> str:
    name = args.get(key)
    return name if isinstance(name, str) else otherwise


def _tensors(trace: ChromeEvents, clock: Clock) -> pd.DataFrame:
    """Join the events that create, describe and delete each tensor; ids start again with every run."""
    objects = trace.frame.assign(
        key=trace.frame["pid"].astype(str) + " " + trace.frame["id"] + " " + trace.frame["name"]
    )
    objects["row"] = np.arange(len(objects))
    created, described, deleted = (objects[objects["phase"] == phase] for phase in "NOD")
    lives = pd.merge_asof(deleted, created[["ts_us", "key", "row"]], on="ts_us", by="key", suffixes=("", "_created"))
    lives = lives.dropna(subset="row_created")
    start_us = trace.frame["ts_us"].to_numpy()[lives["row_created"].to_numpy(np.int64)]
    tensors = pd.merge_asof(
        lives.assign(end_us=lives["ts_us"], ts_us=start_us).sort_values("ts_us", kind="stable"),
        described[["ts_us", "key", "args"]],
        on="ts_us",
        by="key",
        direction="nearest",
        suffixes=("", "_described"),
    )
    descriptions = [_description(args) for args in tensors["args_described"]]
    return pd.DataFrame(
        {
            "name": tensors["name"],
            "allocator": [_text(text, "allocator_name") for text in descriptions],
            "requested_bytes": [_size_in(text) for text in descriptions],
            "shape": [_shape(text) for text in descriptions],
            "data_type": [data_types.number(_text(text, "dtype")) for text in descriptions],
            "start_ps": clock.start_ps(tensors["ts_us"]),
            "end_ps": clock.start_ps(tensors["end_us"]),
        },
        columns=TENSOR_COLUMNS,
    )


def _description(args: object) -> str:
    """Return a tensor's description: protobuf's text format without quotes."""
    snapshot = args.get("snapshot") if isinstance(args, dict) else None
    return str(snapshot.get("tensor_description", "")) if isinstance(snapshot, dict) else ""


def _text(description: str, field: str) -> str:
    found = re.search(rf"\b{field}: (\S+)", description)
    return found[1] if found else ""


def _size_in(description: str) -> int:
    found = re.search(r"\brequested_bytes: (\d{1,18})\b", description)
    return int(found[1]) if found else 0


def _shape(description: str) -> str:
    begin = _SHAPE.search(description)
    end = description.find("\n}", begin.end()) if begin else -1
    return f"[{','.join(_SIZE.findall(description, begin.start(), end))}]" if begin and end >= 0 else ""
