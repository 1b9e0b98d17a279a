"""What to change: one rule per practice of the TensorFlow Profiler guide that a profile's numbers can show.

Each rule speaks only with evidence, and says at most how much of a step's time its cure could save.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, graded
from tfprof_nb.analysis.advice.input_advice import WAITING, copies_to_device, input_bound, input_outside_steps
from tfprof_nb.analysis.overview import HIGHLY_PERCENT, MODERATELY_PERCENT, are_session_runs
from tfprof_nb.analysis.result import Result

COLUMNS = [
    *("severity", "finding", "evidence", "fix", "estimated_gain_percent"),
    *("proved_by", "op_name", "start_ms", "duration_ms"),
]
_RANKS = {"high": 0, "medium": 1, "info": 2}
# Shares of step time from which the guide speaks of a moderate and of a high cost (`op_stats_to_overview_page.cc`).
_OVERHEAD_PERCENT, HIGH_OVERHEAD_PERCENT = 3.0, 15.0
_EAGER_PERCENT, _EXPENSIVE_CALL_PERCENT, _FEW_16_BIT_PERCENT = 10.0, 20.0, 10.0
_TENSOR_CORE_ARCHITECTURES = ("Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell")
_OF_ITERATORS = "Iterator|Optional|Dataset"  # Keras fetches its data with these, always eagerly
_DOMINANT_OP_SHARE = 0.3
_BETWEEN_PERCENT = 20.0
_REPEATED_TRACINGS = 3
_MUCH_LONGER = 3.0
_NOTHING_FOUND = "Nothing in this profile calls for a change."
_NO_STEPS = "Without steps little can be said of what to change: see the notes on steps for how to get them."


class Advice(Result):
    """Findings, the gravest first; ``estimated_gain_percent`` is an upper bound, of step time, where one is known.

    ``proved_by`` is the result to look at. Where one event shows it best, ``op_name`` is its name in the trace, and
    ``start_ms`` and ``duration_ms`` are the time around it.
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
        ``table`` is empty where no rule found anything; a note says so.
    """
    found = [finding for rule in _RULES if (finding := rule(evidence))]
    found += [*_shares(evidence), *_retraced(evidence)]
    # The verdict is about input: of equally grave findings the one on input comes first.
    found.sort(
        key=lambda one: (_RANKS[one.severity], one.finding != WAITING, -np.nan_to_num(one.estimated_gain_percent))
    )
    table = pd.DataFrame([vars(one) for one in found], columns=COLUMNS)
    summary = {severity: int((table["severity"] == severity).sum()) for severity in _RANKS}
    silent = _NOTHING_FOUND if len(evidence.steps.table) else _NO_STEPS
    return Advice(table, summary, [] if found else [silent])


@dataclass(frozen=True)
class _ShareRule:
    """A category that costs when it takes more than a share of the steps, and the cure."""

    category: str
    moderate_percent: float
    high_percent: float
    finding: str
    doing: str
    fix: str


# How several batches become one step: in a loop of the program's own, and in Keras', whose marks tell the epoch.
_SEVERAL_BATCHES = ("a loop over several batches inside the @tf.function", "steps_per_execution in model.compile")
_SHARE_RULES = (
    _ShareRule(
        "other",
        _OVERHEAD_PERCENT,
        HIGH_OVERHEAD_PERCENT,
        "Python between ops takes time",
        "is spent where TensorFlow records nothing",
        "Do more per step: larger batches, or {several}; move logging, metrics and other Python code out of the step.",
    ),
    _ShareRule(
        "kernel_launch",
        _OVERHEAD_PERCENT,
        HIGH_OVERHEAD_PERCENT,
        "Launching kernels takes time",
        "is the host starting kernels",
        "Set TF_GPU_THREAD_MODE=gpu_private before TensorFlow is imported, so that input processing does not take the "
        "launching threads; larger batches or jit_compile=True make fewer, longer kernels.",
    ),
    _ShareRule(
        "output",
        MODERATELY_PERCENT,
        HIGHLY_PERCENT,
        "Results are copied from the device in every step",
        "is copying from device to host",
        "Fetch losses and metrics every so many steps instead of every step: .numpy() and print() copy and wait.",
    ),
    _ShareRule(
        "device_collectives",
        _OVERHEAD_PERCENT,
        HIGH_OVERHEAD_PERCENT,
        "Devices wait for one another",
        "is collective communication",
        "Larger batches per device mean fewer exchanges of gradients; 16-bit gradients halve each of them.",
    ),
)


def _shares(evidence: Evidence) -> Iterator[Finding]:
    # Within a session's run no Python runs: what nothing accounts for is TensorFlow's own.
    rules = _SHARE_RULES[1:] if are_session_runs(evidence.steps) else _SHARE_RULES
    for rule in rules:
        percent = evidence.percent(rule.category)
        if percent >= rule.moderate_percent:
            yield Finding(
                graded(percent, rule.moderate_percent, rule.high_percent),
                rule.finding,
                f"{evidence.of_step(f'{rule.category}_ms')} {rule.doing}.",
                rule.fix.format(several=_SEVERAL_BATCHES[bool(evidence.steps.table["epoch"].notna().any())]),
                percent,
            )


def _eager(evidence: Evidence) -> Finding | None:
    """Of ops that run again and again: what runs eagerly once, before the steps, costs them nothing."""
    ops = evidence.ops.table
    ops = ops[(ops["side"] == "host") & ~ops["op_type"].str.contains(_OF_ITERATORS)]
    repeated = ops["eager"].astype(bool) & (ops["occurrences"] >= max(evidence.steps.summary["steps"], 1))
    percent = 100 * ops.loc[repeated, "self_us"].sum() / (ops["self_us"].sum() or 1)
    if evidence.percent("eager") <= _EAGER_PERCENT or percent <= _EAGER_PERCENT:
        return None
    return Finding(
        "medium",
        "Ops run one by one",
        f"{_units.percent(percent)} of op self time ran eagerly, outside any tf.function.",
        "Put @tf.function on the function that runs a step, and take run_eagerly=True out of model.compile.",
        proved_by="ops",
    )


def _precision(evidence: Evidence) -> Finding | None:
    capable = any(name in str(evidence.overview.summary["device_type"]) for name in _TENSOR_CORE_ARCHITECTURES)
    if not capable or evidence.percent("fp32") == 0 or evidence.percent("fp16") >= _FEW_16_BIT_PERCENT:
        return None
    return Finding(
        "medium",
        "The device computes in 32 bit",
        f"{_units.percent(evidence.percent('fp16'))} of device compute time is 16-bit, on a device with tensor cores.",
        'Set keras.mixed_precision.set_global_policy("mixed_float16") before the model is built.',
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
        f"{_units.milliseconds(between_ms)}, {_units.percent(evidence.percent('between_steps'))} of the time from the "
        "first step to the last, is in no step.",
        "Look at the gaps in the trace: the ends of epochs, callbacks, validation and what the loop does besides "
        "training are there.",
        proved_by="trace",
    )


def _dominant_op(evidence: Evidence) -> Finding | None:
    top = evidence.overview.table
    top = top[top["op_type"] != "Dataset"]  # the input pipeline's stages have a finding of their own
    busy = max(("host_compute", "device_compute"), key=evidence.percent)
    if not len(top) or top["self_share"].iloc[0] < _DOMINANT_OP_SHARE or evidence.percent(busy) < HIGH_OVERHEAD_PERCENT:
        return None
    op = top.iloc[0]
    return Finding(
        "info",
        f"One op does most of the work: {op['op_type'] or _units.shorten(op['op_name'], 40)}",
        f"{_units.shorten(op['op_name'], 80)} takes {_units.share(op['self_share'])} of all op self time on the "
        f"{op['side']}.",
        "Look at this op first: its shapes, how often it runs, and whether it need run in every step.",
        proved_by="ops",
        op_name=str(op["op_name"]),
    )


def _retraced(evidence: Evidence) -> Iterator[Finding]:
    """A first call has to trace, and Keras traces once more when it builds a model: only further ones are findings."""
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
    again = traced[(traced["calls"] >= _REPEATED_TRACINGS) & (traced["percent"] >= _EXPENSIVE_CALL_PERCENT)]
    whole_ms = float(evidence.steps.table["step_ms"].sum()) or float(calls["self_ms"].sum())
    for name, function in again.iterrows():
        percent = min(100.0, 100 * float(function["self_ms"]) / whole_ms)
        yield Finding(
            "high" if percent >= HIGH_OVERHEAD_PERCENT else "medium",
            f"{name} is traced again and again",
            f"{int(function['calls'])} of {name}'s calls had to trace it first, which took "
            f"{_units.milliseconds(float(function['self_ms']))}, {_units.percent(float(function['percent']))} of its "
            f"time{function['cause'] and ': '}{function['cause']}.",
            "Call it with tensors instead of Python numbers, keep shapes the same (drop_remainder=True), or give "
            "@tf.function an input_signature.",
            percent,
            proved_by="functions",
        )


def _late_tracing(evidence: Evidence) -> Finding | None:
    """A step in the middle of a run traced, of functions that did so too seldom to be a finding by themselves."""
    table = evidence.steps.table
    keys = [table["host"], table["phase"]]
    ran_before = (~table["warm_up"]).groupby(keys, sort=False).cummax()
    typical_ms = table["step_ms"].mask(table["warm_up"]).groupby(keys, sort=False).transform("median")
    late = ran_before & table["warm_up"] & (table["step_ms"] >= _MUCH_LONGER * typical_ms)
    found = table.assign(typical_ms=typical_ms, kind=table.groupby(keys, sort=False).ngroup())[late]
    found = found.sort_values("kind", kind="stable")
    if found.empty or any(_retraced(evidence)):
        return None
    first, others = found.iloc[0], len(found) - 1
    return Finding(
        "medium",
        "A function is traced again in the middle of the run",
        f"{first['step_name']}{f' and {others} more steps' if others else ''} traced or compiled: "
        f"{_units.milliseconds(float(first['step_ms']))}, where the median step takes "
        f"{_units.milliseconds(float(first['typical_ms']))}.",
        "Most often the last batch of an epoch is smaller than the others: `.batch(n, drop_remainder=True)`. Else "
        "something in the call differs from the calls before it, such as a Python number or a shape.",
        start_ms=float(first["start_ms"]),
        duration_ms=float(first["step_ms"]),
        proved_by="trace",
    )


_RULES: tuple[Callable[[Evidence], Finding | None], ...] = (
    input_bound,
    copies_to_device,
    input_outside_steps,
    _eager,
    _precision,
    _between_steps,
    _dominant_op,
    _late_tracing,
)
