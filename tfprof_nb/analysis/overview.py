"""The answer at a glance: the verdict, the parts of a step's time, the ops that take most."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.devices import GPU, device_cores, device_planes, device_type, has_device_events
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import Framework, drawn_by, framework, keras_backend
from tfprof_nb.analysis.events.intervals import newly_covered
from tfprof_nb.analysis.events.names import function_name
from tfprof_nb.analysis.events.op_labels import on_device_timeline
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps.activities import Activity, classify, tells_types
from tfprof_nb.analysis.steps.steps import Steps, percent
from tfprof_nb.analysis.trace.counters import unit_percents
from tfprof_nb.analysis.verdict import Verdict, are_session_runs, classify_input, input_verdict
from tfprof_nb.formats.cupti import CANNOT_BE_LOADED, ONLY_ADMINISTRATORS
from tfprof_nb.formats.marks import CELL_LINE, STEP_NUMBER
from tfprof_nb.formats.xspace import DISPATCH

TOP_OPS = 10
WHOLE = ("measured_steps_ms", "warm_up_steps_ms", "other_steps_ms", "outside_steps_ms")
_CALLS_OF_PYTHON = ("TFE_Py_FastPathExecute", "TFE_Py_Execute", "TFE_Execute", "EagerExecute")

_BOTTLENECKS = {"highly": "host", "moderately": "both", "potentially": "both", "not": "device", "unknown": "unknown"}
_UNRECORDED = (
    "{recorder} recorded nothing on {gpus}: {causes}, or no op ran there meanwhile. `tfprof_nb.check()` on that "
    "machine tells which, with the cure."
)
_NVIDIA = "CUPTI, NVIDIA's profiling library,"
_OF_CUPTI = f"{CANNOT_BE_LOADED.format(library='libcupti')}, {ONLY_ADMINISTRATORS}"


class Overview(Result):
    """Verdict and headline numbers; ``table`` holds the ops with the most self time."""


def steady_ms(summary: Mapping[str, Any]) -> float:
    """Return the time of the capture without the steps that warm up, whose tracing longer training hides."""
    return float(summary["capture_ms"]) - float(np.nan_to_num(summary["warm_up_steps_ms"]))


def overview(
    forests: Sequence[Forest],
    steps: Steps,
    ops: Ops,
    *,
    python_sampled: bool = False,
    own_cores: tuple[float, int] = (math.nan, 0),
    examples_per_step: float = math.nan,
    process_peak_bytes: float = math.nan,
) -> Overview:
    """Summarise a profile.

    Parameters
    ----------
    python_sampled
        Whether the profile has samples of Python, which tell what the steps' other time is.
    own_cores
        How many processors the program kept busy, NaN if unknown, and how many it may use; in the summary,
        ``cores_busy`` and ``cores``.
    examples_per_step
        How many examples a step processes; NaN if unknown.
    process_peak_bytes
        The most memory that the process used; NaN if unknown.

    Returns
    -------
    Overview
        ``summary["verdict"]`` is about the measured steps: the training steps after warm-up. ``verdict_by_guide`` is
        what the guide's thresholds say, ``verdict_reason`` why the verdict differs: ``short_fetches``,
        ``only_at_starts``, ``python`` (the other time), ``little_other_time``; else empty. Single slow steps affect
        means: ``input_percent_median`` is that of the median step, ``longest_wait_step`` the step with the longest
        wait, ``longest_wait_share`` its share (0 to 1) of all waiting, ``median_is_milder`` whether the guide's
        verdict on the median step would be a milder one. ``waiting_percent`` adds the fetches between marked steps
        to ``input_percent``. ``step_ms`` and ``input_ms`` are means. ``mxu_percent`` and ``vpu_percent`` are the mean
        utilisation of the matrix and vector units of a TPU, if it recorded counters of them.
        ``keras_backend`` is ``JAX`` or ``PyTorch`` where that runs Keras' models, else empty.
        ``unrecorded_gpus`` is how many GPUs the profile names, if it has work of none,
        and ``drawn_by`` the tool of which the file is a drawing, without ops (``Horovod``, ``tfprof``).
        ``capture_ms`` is the time of the whole capture; for a single host with
        steps, ``measured_steps_ms``, ``warm_up_steps_ms``, ``other_steps_ms`` (of other phases, such as validation)
        and ``outside_steps_ms`` add up to it. ``outside_longest`` names the longest event outside of steps (the op,
        if Python started one) on the threads that run steps,
        ``outside_longest_ms`` its time; empty and 0 without one.
    """
    shares = steps.shares
    device = device_type(forests)
    backend = next(filter(None, (forest.once(keras_backend) for forest in forests)), "")
    on_tpu = device.startswith("TPU")
    verdict = input_verdict(steps, python_sampled=python_sampled, on_tpu=on_tpu, elsewhere=bool(backend))
    used = forests[0].once(framework) if forests else "tensorflow"
    gpus = _unrecorded_gpus(forests)
    unrecorded = [_why_unrecorded(gpus, device)] if gpus else []
    summary = {
        "verdict": verdict.verdict,
        "verdict_reason": verdict.reason,
        "verdict_by_guide": verdict.by_guide,
        "bottleneck": "unknown" if gpus else _bottleneck(verdict.by_guide, forests),
        "largest_category": None if np.isnan(shares["input_ms"]) else max(shares, key=lambda name: shares[name]),
        **{f"{name.removesuffix('_ms')}_percent": share for name, share in shares.items()},
        "step_ms": steps.summary["step_ms_mean"],
        "input_ms": steps.summary["input_ms_mean"],
        "cores_busy": own_cores[0],
        "cores": own_cores[1],
        "examples_per_step": examples_per_step,
        "process_peak_bytes": process_peak_bytes,
        **_typical_wait(steps),
        **_between_steps(steps, forests),
        **_whole(steps, forests),
        "framework": used,
        "keras_backend": backend,
        "drawn_by": drawn_by(forests),
        "device_type": device,
        "device_cores": device_cores(forests),
        "unrecorded_gpus": len(gpus),
        "host_count": len(forests),
        **_placement(ops, used),
        **_precision(forests),
        **_device_use(ops),
        **unit_percents(forests),
    }
    summary["waiting_percent"] = summary["input_percent"] + summary["input_between_steps_percent"]
    of_median = classify_input(summary["input_percent_median"], summary["other_percent"])
    summary["median_is_milder"] = of_median != classify_input(summary["input_percent"], summary["other_percent"])
    hosts = [forest.host for forest in forests]
    reported = [f"The profiler reported: {text}" for host in hosts for text in (*host.errors, *host.warnings)]
    idle, count = idle_devices(forests)
    unused = [f"No work was recorded on {len(idle)} of {count} devices: {', '.join(idle)}."] if idle else []
    return Overview(_top_ops(ops), summary, [*unrecorded, *dict.fromkeys(reported), *steps.notes, *unused])


def _unrecorded_gpus(forests: Sequence[Forest]) -> list[str]:
    """Name the GPUs of a profile in which no device did any work."""
    if any(forest.once(planes_with_work) for forest in forests):
        return []
    return [plane.name for plane in device_planes(forests) if plane.name.startswith(GPU)]


def _why_unrecorded(gpus: list[str], kind: str) -> str:
    names = ", ".join(dict.fromkeys(gpus))
    if kind.startswith("AMD"):
        return _UNRECORDED.format(recorder="ROCm's tracer", gpus=names, causes="its library cannot be loaded")
    return _UNRECORDED.format(recorder=_NVIDIA, gpus=names, causes=_OF_CUPTI)


def idle_devices(forests: Sequence[Forest]) -> tuple[list[str], int]:
    """Name the devices without work, if others have some; return how many devices there are."""
    idle, count = [], 0
    for forest in forests:
        busy = forest.once(planes_with_work)
        planes = [plane.name for plane in device_planes([forest])]
        count += len(planes)
        idle += [f"{forest.host.name} {name}" if len(forests) > 1 else name for name in planes if name not in busy]
    return ([] if len(idle) == count else idle), count


def planes_with_work(forest: Forest) -> set[str]:
    """Return the names of a host's devices that did any work."""
    worked = np.unique(forest.planes_of(np.flatnonzero(on_device_timeline(forest))))
    return {forest.host.planes[plane].name for plane in worked}


def _bottleneck(verdict: Verdict, forests: Sequence[Forest]) -> str:
    """Name the side that limits the program; a program without devices has only the host."""
    return "host" if verdict != "unknown" and not device_cores(forests) else _BOTTLENECKS[verdict]


def _top_ops(ops: Ops) -> pd.DataFrame:
    """Return the ops with the most self time, of the device if it ran any."""
    table = ops.table
    side = "device" if (table["side"] == "device").any() else "host"
    top = table[(table["side"] == side).to_numpy()].head(TOP_OPS)  # the table is ordered by self time
    return top[["op_type", "op_name", "side", "self_us", "self_share", "cumulative_share"]].reset_index(drop=True)


def _typical_wait(steps: Steps) -> dict[str, object]:
    waited, length = (steps.recorded[name].to_numpy() for name in ("input_ms", "step_ms"))
    if not waited.sum() > 0:
        return {"input_percent_median": percent(0.0, len(waited)), "longest_wait_step": None, "longest_wait_share": 0.0}
    return {
        "input_percent_median": float(np.median(100 * waited[length > 0] / length[length > 0])),
        "longest_wait_step": int(steps.recorded.index.to_numpy()[waited.argmax()]),
        "longest_wait_share": float(waited.max() / waited.sum()),
    }


def _whole(steps: Steps, forests: Sequence[Forest]) -> dict[str, Any]:
    """Divide the whole capture of a single host into measured steps, other steps, and the rest."""
    capture_ms = max((forest.end_ps for forest in forests), default=0) / PS_PER_MS
    table, measured = steps.table, steps.measured
    if len(forests) != 1 or not len(table):
        return {"capture_ms": capture_ms} | dict.fromkeys(WHOLE, float("nan")) | _longest(forests[:0], steps)
    steps_ms, measured_ms = float(table["step_ms"].sum()), float(measured["step_ms"].sum())
    warm_up_ms = 0.0 if measured["warm_up"].any() else float(table.loc[table["warm_up"], "step_ms"].sum())
    other_ms = round(steps_ms - measured_ms - warm_up_ms, 9)  # a remainder of floats is never quite 0
    times = (measured_ms, warm_up_ms, other_ms, max(capture_ms - steps_ms, 0.0))
    return {"capture_ms": capture_ms} | dict(zip(WHOLE, times, strict=True)) | _longest(forests, steps)


def _longest(forests: Sequence[Forest], steps: Steps) -> dict[str, Any]:
    """Name the longest event in no step on the threads that mark steps; the marks of the cell's lines do not count."""
    longest_name, longest_ps = "", 0
    step_start = steps.table["start_ms"].to_numpy() * PS_PER_MS
    step_end = step_start + steps.table["step_ms"].to_numpy() * PS_PER_MS
    for forest in forests:
        host = forest.host
        runs_steps = np.zeros(len(host.lines), dtype=bool)
        runs_steps[host.line[host.ints(STEP_NUMBER).rows]] = True
        runs_steps[host.line[forest.name_starts(CELL_LINE)]] = True
        events = np.flatnonzero(runs_steps[host.line] & ~forest.name_starts(CELL_LINE))
        begun = np.searchsorted(np.sort(step_start), forest.ends_ps(events), side="left")
        ended = np.searchsorted(np.sort(step_end), host.start_ps[events], side="right")
        events = events[begun == ended]
        if len(events) and (length := int(host.duration_ps[events].max())) > longest_ps:
            longest = events[host.duration_ps[events].argmax()]
            longest_name, longest_ps = _named_by_op(forest, int(longest)), length
    return {"outside_longest": longest_name, "outside_longest_ms": longest_ps / PS_PER_MS}


def _named_by_op(forest: Forest, event: int) -> str:
    """Return the name of an event, or of the op that takes much of a call by which Python starts it."""
    host = forest.host
    name = str(host.names[host.metadata[event]])
    if not name.startswith(_CALLS_OF_PYTHON):
        return name
    end_ps = host.start_ps[event] + host.duration_ps[event]
    dispatches = np.flatnonzero(forest.name_starts(DISPATCH) & (host.line == host.line[event]))
    inside = (host.start_ps[dispatches] >= host.start_ps[event]) & (forest.ends_ps(dispatches) <= end_ps)
    dispatches = dispatches[inside]
    longest = dispatches[host.duration_ps[dispatches].argmax()] if len(dispatches) else event
    long_enough = host.duration_ps[longest] > host.duration_ps[event] / 2
    return function_name(str(host.names[host.metadata[longest]]).removeprefix(DISPATCH)) if long_enough else name


def _between_steps(steps: Steps, forests: Sequence[Forest]) -> dict[str, float]:
    """Return the time between the first and the last step in no step, over all hosts; its share, and that of input."""
    between = whole = 0.0
    # What happens between session runs is unknown.
    known = (steps.table.iloc[:0] if are_session_runs(steps) else steps.table).sort_values("start_ms")
    for forest in forests:
        mine = known[(known["host"] == forest.host.name).to_numpy()]
        start = mine["start_ms"].to_numpy()
        end = start + mine["step_ms"].to_numpy()
        # The time between several runs on one timeline is not the program's.
        runs = np.searchsorted(start, np.array(forest.host.run_starts_ps) / PS_PER_MS)
        for began, ended in zip(np.split(start, runs), np.split(end, runs), strict=True):
            if len(began):
                whole += ended.max() - began[0]
                between += ended.max() - began[0] - newly_covered(began, ended).sum()
    fetching = steps.summary["input_between_steps_ms"]
    return {
        "between_steps_ms": float(between),
        "between_steps_percent": percent(between, whole),
        "input_between_steps_percent": percent(fetching, whole),
    }


def _placement(ops: Ops, used: Framework) -> dict[str, float]:
    """Return the shares of op executions per side, and of eager self time."""
    table = ops.table
    runs = table.groupby("side")["occurrences"].sum()
    eager_us, all_us = table.loc[table["eager"], "self_us"].sum(), table["self_us"].sum()
    return {
        "host_op_percent": percent(runs.get("host", 0), runs.sum()),
        "device_op_percent": percent(runs.get("device", 0), runs.sum()),
        "eager_percent": percent(eager_us, all_us) if used == "tensorflow" else float("nan"),
    }


def _precision(forests: Sequence[Forest]) -> dict[str, float]:
    """Return the shares of the kernels' time in 16 and in 32 bit; NaN if no kernel tells its type."""
    known, *times = zip(*(forest.once(precision) for forest in forests), strict=True) if forests else [()]
    if not any(known):
        return {"fp16_percent": float("nan"), "fp32_percent": float("nan")}
    half, full = map(sum, times)
    return {"fp16_percent": percent(half, half + full), "fp32_percent": percent(full, half + full)}


def precision(forest: Forest) -> tuple[bool, int, int]:
    """Return whether a host's kernels tell their type, and the time of those in 16 and in 32 bit (ps)."""
    if not has_device_events(forest):
        return False, 0, 0
    activity = classify(forest, np.where(forest.on_device, 0, -1))
    half, full = (
        int(forest.host.duration_ps[forest.on_device & (activity == kind)].sum())
        for kind in (Activity.DEVICE_COMPUTE_16, Activity.DEVICE_COMPUTE_32)
    )
    return tells_types(forest), half, full


def _device_use(ops: Ops) -> dict[str, float]:
    busy, idle = ops.summary["device_busy_us"], ops.summary["device_idle_us"]
    return {"device_busy_percent": percent(busy, busy + idle), "device_idle_percent": percent(idle, busy + idle)}
