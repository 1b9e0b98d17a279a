"""Give the traces of PyTorch's profiler (Kineto) the names and stats that TensorFlow's profiler uses.

Steps, kernels with their launches and ops, copies, Python calls and devices: everything else stays as it is.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from tfprof_nb.decode.chrome_json import ChromeEvents, Key
from tfprof_nb.formats.marks import ROOT, STEP_NUMBER
from tfprof_nb.formats.xspace import ANNOTATION

_CPU_OP, _ANNOTATION, _DEVICE_ANNOTATION, _PYTHON = (
    "cpu_op",
    "user_annotation",
    "gpu_user_annotation",
    "python_function",
)
_GPU = ("kernel", "gpu_memcpy", "gpu_memset")
_DEVICE = (*_GPU, "mtia_ccp_events")
_STEP = re.compile(r"ProfilerStep#(\d+)")
_COPY = re.compile(r"Memcpy (H|D|P)to(H|D|P)")
_DIRECTIONS = {"HOST_TO_DEVICE": "MemcpyH2D", "DEVICE_TO_HOST": "MemcpyD2H"}
_CALL = re.compile(r"(.*)\((\d+)\): (.*)")
_DETAILS = {"registers per thread": "regs", "shared memory": "static_shared", "grid": "grid", "block": "block"}
_AMD = ("AMD", "Instinct", "Radeon")


def is_kineto(trace: ChromeEvents) -> bool:
    """Whether a Chrome trace is of PyTorch's profiler, by the categories of its events."""
    return bool(trace.frame["cat"].isin((_CPU_OP, *_DEVICE)).any())


def as_profile(trace: ChromeEvents) -> ChromeEvents:
    """Return the trace in TensorFlow's terms."""
    frame = trace.frame.copy()
    frame["args"] = [  # type: ignore[assignment]
        {**args, **_stats(*event)} for *event, args in _rows(frame, "cat", "name", "args", "args")
    ]
    _name_ops(frame)
    _add_launches(frame, trace.arrivals)
    # What a program annotated is repeated above the streams that it reached.
    copied = frame["cat"] == _DEVICE_ANNOTATION
    frame.loc[copied, "tid"] = "Annotations - from #" + frame.loc[copied, "tid"].astype(str)
    return replace(trace, frame=frame, processes=trace.processes | _devices(trace))


def _rows(frame: pd.DataFrame, *columns: str) -> Iterable[tuple[Any, ...]]:
    return zip(*(frame[column] for column in columns), strict=True)


def _stats(category: str, name: str, args: dict[str, Any]) -> dict[str, Any]:
    """Return what TensorFlow's profiler would say of an event."""
    if category == _ANNOTATION:
        step = _STEP.match(name)
        return {"long_name": "step", STEP_NUMBER: int(step[1]), ROOT: 1} if step else {ANNOTATION: 1}
    if category == _PYTHON:
        return {"long_name": _CALL.sub(r"$\1:\2 \3", name) if _CALL.match(name) else f"${name}"}
    if category not in _DEVICE:
        return {}
    details = " ".join(f"{key}:{_text(args[name])}" for name, key in _DETAILS.items() if name in args)
    copy, direction = _COPY.match(name), _DIRECTIONS.get(str(args.get("direction")))
    renamed = f"Memcpy{copy[1]}2{copy[2]}{name[copy.end() :]}" if copy else direction
    return ({"kernel_details": details} if details else {}) | ({"long_name": renamed} if renamed else {})


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _name_ops(frame: pd.DataFrame) -> None:
    """Give each kernel the op that launched it, by the number that PyTorch writes to both."""
    ops = frame[frame["cat"] == _CPU_OP]
    of = {args["External id"]: name for name, args in _rows(ops, "name", "args") if "External id" in args}
    for category, args in _rows(frame, "cat", "args"):
        if category in _DEVICE and (op := of.get(args.get("External id"))):
            args["tf_op"] = op


def _add_launches(frame: pd.DataFrame, arrivals: dict[tuple[Key, Key, float], Any]) -> None:
    """Give launches and what they launched their common number.

    On MTIA only the first of the kernels that a launch runs one after another has it, or an arrow that leads there.
    """
    running: dict[tuple[Key, Key], Any] = {}
    for category, pid, tid, ts_us, args in _rows(frame, "cat", "pid", "tid", "ts_us", "args"):
        launched = args.get("correlation")
        if category in _DEVICE:
            launched = arrivals.get((pid, tid, ts_us)) if launched is None else launched
            launched = running[pid, tid] = running.get((pid, tid)) if launched is None else launched
        if launched is not None:
            args["correlation_id"] = launched


def _devices(trace: ChromeEvents) -> dict[Key, dict[str, Any]]:
    known = trace.about.get("deviceProperties")
    properties = (
        {about.get("id"): about for about in known if isinstance(about, dict)} if isinstance(known, list) else {}
    )
    events = trace.frame[trace.frame["cat"].isin(_DEVICE)]
    planes: dict[Key, dict[str, Any]] = {}
    for pid, categories in events.groupby("pid", sort=False)["cat"]:
        kind = (
            "GPU" if categories.isin(_GPU).any() else str(trace.processes.get(pid, {}).get("name", "device")).split()[0]
        )
        planes[pid] = {"name": f"/device:{kind}:{pid}", "stats": _capability(properties.get(pid, {}))}
    return planes


def _capability(about: dict[str, Any]) -> dict[str, Any]:
    if any(maker in str(about.get("name")) for maker in _AMD):
        return {"device_vendor": "AMD"}
    names = {"compute_cap_major": "computeMajor", "compute_cap_minor": "computeMinor"}
    return {stat: about[name] for stat, name in names.items() if isinstance(about.get(name), int)}
