"""What to change: one rule for each practice of the TensorFlow Profiler guide that a profile can check.

A rule reports nothing without evidence. It estimates the gain only where there is a ground for an estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, severity_of
from tfprof_nb.analysis.advice.input_advice import WAITING, copies_to_device, input_bound, input_outside_steps
from tfprof_nb.analysis.advice.python_advice import python_findings
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT, are_session_runs

COLUMNS = [
    *("severity", "finding", "evidence", "fix", "estimated_gain_percent"),
    *("place", "gain_low_percent", "gain_high_percent", "change"),
    *("proved_by", "op_name", "start_ms", "duration_ms"),
]
_RANKS = {"high": 0, "medium": 1, "info": 2}
# Shares of step time that the guide calls a moderate and a high cost (`op_stats_to_overview_page.cc`).
_OVERHEAD_PERCENT, HIGH_OVERHEAD_PERCENT = 3.0, 15.0
_EAGER_PERCENT, _EXPENSIVE_CALL_PERCENT, _FEW_16_BIT_PERCENT = 10.0, 20.0, 10.0
_TENSOR_CORE_ARCHITECTURES = ("Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell")
_FETCHING_OPS = "Iterator|Optional|Dataset"  # Keras fetches its data with these, always eagerly
_DOMINANT_OP_SHARE = 0.3
_EAGER, _MOSTLY_EAGER_PERCENT = "Ops run one by one", 50.0
_NOT_EAGERLY_IN_KERAS = "Remove run_eagerly=True from model.compile, and tf.config.run_functions_eagerly(True)."
_NOT_EAGERLY = "Put @tf.function on the function that runs a step."
# Below the first share, time outside of ops is normal; in steps as short as this, it is the fixed cost of a step.
_UNEXPLAINED_PERCENT, _HIGH_UNEXPLAINED_PERCENT, _SHORT_STEP_MS = 10.0, 25.0, 20.0
_BETWEEN_PERCENT = 20.0
_MIN_TRACING_CALLS = 3
_LATE_TRACING_FACTOR = 3.0
_NO_FINDINGS = "Nothing in this profile calls for a change."
_NO_STEPS = "Without steps there is little to base advice on: the notes on the steps say how to get them."


class Advice(Result):
    """Findings, most severe first. Gains are estimates, in percent of step time; NaN if there is no ground for one.

    ``place`` is the line to change, ``change`` the new code, both empty if unknown; ``gain_low_percent`` and
    ``gain_high_percent`` are the range of the gain.
    ``proved_by`` is the result that shows the evidence. If a single event shows it, ``op_name`` is the event's name in
    the trace, and ``start_ms`` and ``duration_ms`` are the time around it.
    """


def advice(evidence: Evidence) -> Advice:
    """Apply every rule.

    Parameters
    ----------
    evidence
        Results of one profile.

    Returns
    -------
    Advice
        ``table`` is empty if there is nothing to change; a note says so.
    """
    findings = [finding for rule in _RULES if (finding := rule(evidence))]
    findings += [*python_findings(evidence), *_shares(evidence), *_retraced(evidence)]
    findings.sort(key=_rank)
    table = pd.DataFrame([vars(finding) for finding in findings], columns=COLUMNS)
    summary = {severity: int((table["severity"] == severity).sum()) for severity in _RANKS}
    why_empty = _NO_FINDINGS if len(evidence.steps.table) else _NO_STEPS
    return Advice(table, summary, [] if findings else [why_empty])


def _rank(finding: Finding) -> tuple[int, int, float]:
    """Order by severity; then eager ops, whose cost shows as Python, and the input, which the verdict is about."""
    first = (_EAGER, WAITING)
    kind = first.index(finding.finding) if finding.finding in first else len(first)
    return _RANKS[finding.severity], kind, -np.nan_to_num(finding.estimated_gain_percent)


@dataclass(frozen=True)
class _ShareRule:
    """A category of step time that costs too much from some share on, and how to reduce it."""

    category: str
    moderate_percent: float
    high_percent: float
    finding: str
    spent: str
    fix: str


_SHARE_RULES = (
    _ShareRule(
        "kernel_launch",
        _OVERHEAD_PERCENT,
        HIGH_OVERHEAD_PERCENT,
        "Launching kernels takes time",
        "is spent launching kernels",
        "Set TF_GPU_THREAD_MODE=gpu_private before importing TensorFlow, so that input processing does not occupy the "
        "threads that launch kernels. Larger batches or jit_compile=True make fewer, longer kernels.",
    ),
    _ShareRule(
        "output",
        MODERATELY_PERCENT,
        HIGHLY_PERCENT,
        "Results are copied from the device in every step",
        "is spent copying results from the device to the host",
        "Fetch losses and metrics every few steps instead of in every step: .numpy() and print() copy and wait.",
    ),
    _ShareRule(
        "device_collectives",
        _OVERHEAD_PERCENT,
        HIGH_OVERHEAD_PERCENT,
        "Devices wait for one another",
        "is spent on collective communication",
        "Use larger batches per device for fewer exchanges of gradients, or 16-bit gradients to halve each exchange.",
    ),
)


def _shares(evidence: Evidence) -> Iterator[Finding]:
    for rule in _SHARE_RULES:
        percent = evidence.percent(rule.category)
        if percent >= rule.moderate_percent:
            yield Finding(
                severity_of(percent, rule.moderate_percent, rule.high_percent),
                rule.finding,
                f"{evidence.of_step(f'{rule.category}_ms')} {rule.spent}.",
                rule.fix,
                percent,
            )


def _eager(evidence: Evidence) -> Finding | None:
    """Check ops that run repeatedly: an op that runs eagerly once, before the steps, costs them nothing."""
    percent = _eager_percent(evidence)
    if evidence.percent("eager") <= _EAGER_PERCENT or percent <= _EAGER_PERCENT:
        return None
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    if by_keras and _runs_functions(evidence):  # what runs eagerly then is Keras' own work, such as saving
        return None
    return Finding(
        "high" if percent >= _MOSTLY_EAGER_PERCENT and not _runs_functions(evidence) else "medium",
        _EAGER,
        f"{_units.percent(percent)} of op self time ran eagerly, outside any tf.function: Python starts each op.",
        _NOT_EAGERLY_IN_KERAS if by_keras else _NOT_EAGERLY,
        proved_by="ops",
    )


def _runs_functions(evidence: Evidence) -> bool:
    """Whether tf.functions are called at least once per step, other than those that trace."""
    calls = evidence.functions.table
    return bool(calls.loc[calls["mode"] != "eager", "calls"].sum() >= max(evidence.steps.summary["steps"], 1))


def _eager_percent(evidence: Evidence) -> float:
    ops = evidence.ops.table
    ops = ops[(ops["side"] == "host") & ~ops["op_type"].str.contains(_FETCHING_OPS)]
    repeated = ops["eager"].astype(bool) & (ops["occurrences"] >= max(evidence.steps.summary["steps"], 1))
    return float(100 * ops.loc[repeated, "self_us"].sum() / (ops["self_us"].sum() or 1))


def _unexplained(evidence: Evidence) -> Finding | None:
    """Report the time outside of ops that no finding on Python explains; within a session's run no Python runs."""
    percent = evidence.percent("other")
    explained = sum(finding.estimated_gain_percent for finding in python_findings(evidence))
    mostly_eager = _eager_percent(evidence) >= _MOSTLY_EAGER_PERCENT and not _runs_functions(evidence)
    if percent < _UNEXPLAINED_PERCENT or explained >= percent / 2 or mostly_eager or are_session_runs(evidence.steps):
        return None
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    sampled = len(evidence.python.table) > 0
    spent = "in Python code of Keras and TensorFlow" if sampled else "where TensorFlow records nothing"
    short = float(evidence.steps.measured["step_ms"].median()) <= _SHORT_STEP_MS
    several = "set steps_per_execution=10 in model.compile" if by_keras else "run several batches in one @tf.function"
    return Finding(
        severity_of(percent, _UNEXPLAINED_PERCENT, _HIGH_UNEXPLAINED_PERCENT),
        "Python between ops takes time",
        f"{evidence.of_step('other_ms')} is spent {spent}.",
        f"The steps are short: use larger batches, or {several}."
        if short
        else "Look at the Python page and at the gaps in the trace: they show what runs there.",
        percent,
        proved_by="python" if sampled else "steps",
    )


def _precision(evidence: Evidence) -> Finding | None:
    capable = any(name in str(evidence.overview.summary["device_type"]) for name in _TENSOR_CORE_ARCHITECTURES)
    if not capable or not evidence.percent("fp32") > 0 or evidence.percent("fp16") >= _FEW_16_BIT_PERCENT:
        return None
    return Finding(
        "medium",
        "The device computes in 32 bit",
        f"{_units.percent(evidence.percent('fp16'))} of device compute time is 16-bit, on a device with tensor cores.",
        'Call keras.mixed_precision.set_global_policy("mixed_float16") before building the model.',
        proved_by="kernels",
    )


def _between_steps(evidence: Evidence) -> Finding | None:
    other = evidence.percent("between_steps") - evidence.percent("input_between_steps")
    if other < _BETWEEN_PERCENT:
        return None
    between_ms = evidence.overview.summary["between_steps_ms"]
    return Finding(
        "medium",
        "Much of the time lies between the steps",
        f"{_units.milliseconds(between_ms)} ({_units.percent(evidence.percent('between_steps'))} of the time from the "
        "first step to the last) belongs to no step.",
        "Look at the gaps in the trace: ends of epochs, callbacks, validation, and other work of the loop.",
        proved_by="trace",
    )


def _dominant_op(evidence: Evidence) -> Finding | None:
    top = evidence.overview.table
    top = top[top["op_type"] != "Dataset"]  # stages of the input pipeline have their own finding
    busy = max(("host_compute", "device_compute"), key=evidence.percent)
    if not len(top) or top["self_share"].iloc[0] < _DOMINANT_OP_SHARE or evidence.percent(busy) < HIGH_OVERHEAD_PERCENT:
        return None
    op = top.iloc[0]
    return Finding(
        "info",
        f"One op does most of the work: {op['op_type'] or _units.shorten(op['op_name'], 40)}",
        f"{_units.shorten(op['op_name'], 80)} takes {_units.share(op['self_share'])} of all op self time on the "
        f"{op['side']}.",
        "Start with this op: look at its shapes, at how often it runs, and whether every step needs it.",
        proved_by="ops",
        op_name=str(op["op_name"]),
    )


def _retraced(evidence: Evidence) -> Iterator[Finding]:
    """A first call must trace, and Keras traces again when it builds a model: only further tracing is a finding."""
    calls = evidence.functions.table
    traced = (
        calls[calls["mode"].str.startswith("traced")]
        .groupby("function")
        .agg(
            calls=("calls", "sum"),
            percent=("expensive_call_percent", "max"),
            self_ms=("self_ms", "sum"),
            cause=("cause", "first"),
        )
    )
    again = traced[(traced["calls"] >= _MIN_TRACING_CALLS) & (traced["percent"] >= _EXPENSIVE_CALL_PERCENT)]
    whole_ms = float(evidence.steps.table["step_ms"].sum()) or float(calls["self_ms"].sum())
    for name, function in again.iterrows():
        percent = min(100.0, 100 * float(function["self_ms"]) / whole_ms)
        yield Finding(
            "high" if percent >= HIGH_OVERHEAD_PERCENT else "medium",
            f"{name} is traced again and again",
            f"{int(function['calls'])} calls of {name} traced it first, which took "
            f"{_units.milliseconds(float(function['self_ms']))} ({_units.percent(float(function['percent']))} of its "
            f"time){function['cause'] and ': '}{function['cause']}.",
            "Write @tf.function(reduce_retracing=True), which generalises shapes; pass numbers that change as tensors: "
            "f(tf.constant(3)) instead of f(3).",
            percent,
            proved_by="functions",
        )


def _late_tracing(evidence: Evidence) -> Finding | None:
    """Report a step in the middle of the run that traced, if the function traced too rarely for its own finding."""
    table = evidence.steps.table
    keys = [table["host"], table["phase"]]
    ran_before = (~table["warm_up"]).groupby(keys, sort=False).cummax()
    typical_ms = table["step_ms"].mask(table["warm_up"]).groupby(keys, sort=False).transform("median")
    late = ran_before & table["warm_up"] & (table["step_ms"] >= _LATE_TRACING_FACTOR * typical_ms)
    steps = table.assign(typical_ms=typical_ms, kind=table.groupby(keys, sort=False).ngroup())[late]
    steps = steps.sort_values("kind", kind="stable")
    if steps.empty or any(_retraced(evidence)):
        return None
    first, others = steps.iloc[0], len(steps) - 1
    return Finding(
        "medium",
        "A function is traced again in the middle of the run",
        f"{first['step_name']}{f' and {others} more steps' if others else ''} traced or compiled: "
        f"{_units.milliseconds(float(first['step_ms']))}, compared to "
        f"{_units.milliseconds(float(first['typical_ms']))} for the median step.",
        "Usually the last batch of an epoch is smaller than the others: `.batch(n, drop_remainder=True)`. Otherwise "
        "an argument of the call differs from earlier calls, such as a Python number or a shape.",
        start_ms=float(first["start_ms"]),
        duration_ms=float(first["step_ms"]),
        proved_by="trace",
    )


_RULES: tuple[Callable[[Evidence], Finding | None], ...] = (
    input_bound,
    copies_to_device,
    input_outside_steps,
    _eager,
    _unexplained,
    _precision,
    _between_steps,
    _dominant_op,
    _late_tracing,
)
