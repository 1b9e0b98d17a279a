"""What to change: one rule for each practice of the TensorFlow Profiler guide that a profile can check.

A rule reports nothing without evidence. It estimates the gain only where there is a ground for an estimate.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.adapt_advice import adapt_findings
from tfprof_nb.analysis.advice.augmentation_advice import augmentation_findings
from tfprof_nb.analysis.advice.batch_advice import batch_findings
from tfprof_nb.analysis.advice.checking_advice import checking_findings
from tfprof_nb.analysis.advice.device_advice import device_findings
from tfprof_nb.analysis.advice.eager_advice import MOSTLY_EAGER_PERCENT, eager_findings, eager_percent, runs_functions
from tfprof_nb.analysis.advice.element_advice import element_findings
from tfprof_nb.analysis.advice.findings import (
    BETWEEN_OPS,
    COPIES,
    EAGER,
    ONE_OP,
    SMALL_STEPS,
    Evidence,
    Finding,
    severity_of,
    widened,
)
from tfprof_nb.analysis.advice.fit_again_advice import fit_again_findings
from tfprof_nb.analysis.advice.foreign_advice import foreign_findings
from tfprof_nb.analysis.advice.gpu_advice import gpu_findings
from tfprof_nb.analysis.advice.input_advice import copies_to_device, input_bound, input_outside_steps
from tfprof_nb.analysis.advice.iterator_end_advice import iterator_end_findings
from tfprof_nb.analysis.advice.jacobian_advice import jacobian_findings
from tfprof_nb.analysis.advice.layer_advice import layer_findings
from tfprof_nb.analysis.advice.lookup_advice import lookup_findings
from tfprof_nb.analysis.advice.loop_copy_advice import loop_copy_findings
from tfprof_nb.analysis.advice.mapping_advice import mapping_findings
from tfprof_nb.analysis.advice.memory_advice import memory_findings
from tfprof_nb.analysis.advice.metrics_advice import metrics_findings
from tfprof_nb.analysis.advice.one_hot_advice import one_hot_findings
from tfprof_nb.analysis.advice.padding_advice import padding_findings
from tfprof_nb.analysis.advice.pair_advice import pair_findings
from tfprof_nb.analysis.advice.precision_advice import precision_findings
from tfprof_nb.analysis.advice.printing_advice import PRINTING_OPS, printing_findings
from tfprof_nb.analysis.advice.python_advice import python_findings
from tfprof_nb.analysis.advice.python_input import PYTHON_OPS
from tfprof_nb.analysis.advice.repeated_advice import repeated_findings
from tfprof_nb.analysis.advice.retracing_advice import retracing_findings
from tfprof_nb.analysis.advice.same_tensor_advice import same_tensor_findings
from tfprof_nb.analysis.advice.small_ops_advice import small_ops_findings
from tfprof_nb.analysis.advice.softmax_advice import softmax_findings
from tfprof_nb.analysis.advice.sort_advice import sort_findings
from tfprof_nb.analysis.advice.sparse_advice import sparse_findings
from tfprof_nb.analysis.advice.table_advice import table_findings
from tfprof_nb.analysis.advice.validation_advice import validation_input
from tfprof_nb.analysis.advice.where_advice import where_findings
from tfprof_nb.analysis.benchmark_input import InputBenchmark
from tfprof_nb.analysis.result import Result, empty_table
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT, are_session_runs

_TYPES = {
    **dict.fromkeys(("severity", "finding", "evidence", "fix"), "str"),
    "estimated_gain_percent": np.float64,
    "place": "str",
    **dict.fromkeys(("gain_low_percent", "gain_high_percent"), np.float64),
    **dict.fromkeys(("change", "proved_by", "op_name"), "str"),
    **dict.fromkeys(("start_ms", "duration_ms"), np.float64),
}
COLUMNS = list(_TYPES)
_PLACED = ("finding", "evidence", "fix", "place")  # what may name a line
_RANKS = {"high": 0, "medium": 1, "info": 2}
# Shares of step time that the guide calls a moderate and a high cost (`op_stats_to_overview_page.cc`).
_OVERHEAD_PERCENT, HIGH_OVERHEAD_PERCENT = 3.0, 15.0
_COPYING_PERCENT, _HIGH_COPYING_PERCENT = 15.0, 40.0
_DOMINANT_OP_SHARE = 0.5
# Ops that hand values on, or wait for those of others: nothing is in their shapes.
_NO_WORK = (
    "Variable|Assign|Iterator|Identity|NoOp|Send|Recv|LogicalAnd|"
    "^(?:copy-|infeed|outfeed|all-|reduce-scatter|collective-|send|recv|nccl)"
)
# Below the first share, time outside of ops is normal; in steps as short as this, it is the fixed cost of a step.
_UNEXPLAINED_PERCENT, _HIGH_UNEXPLAINED_PERCENT, _SHORT_STEP_MS = 10.0, 25.0, 20.0
_UNRECORDED = "Much of each step is not recorded"
_LEAST_JOINED = 0.3  # of the time between ops: each step still runs some Python of its own
_BETWEEN_PERCENT, _FEW_MEASURED, _HIGH_HOST_PERCENT = 20.0, 0.25, 50.0
_WAITS = {
    "tensorflow": ".numpy() and print()",
    "jax": "float(), conversions to NumPy and print()",
    "pytorch": ".item(), .cpu() and print()",
}
_NO_FINDINGS = "Nothing in this profile calls for a change."
_NO_STEPS = "Without steps there is little to base advice on. The page Steps says how to get them."


@dataclass(frozen=True)
class Measurement:
    """What can be measured on request: the expression of the program's dataset, the code, and what runs it."""

    dataset: str
    code: str
    run: Callable[[], InputBenchmark]


class Advice(Result):
    """Findings, most severe first. Gains are estimates, in percent of step time; NaN if there is no ground for one.

    ``place`` is the line to change, ``change`` the code for the place of that line, or of the call or function that
    begins there; both are empty if unknown. ``gain_low_percent`` and ``gain_high_percent`` are the range of the gain.
    ``proved_by`` is the result that shows the evidence. If a single event shows it, ``op_name`` is the event's name in
    the trace, and ``start_ms`` and ``duration_ms`` are the time around it.
    """

    # Who makes a profile may say how its input can be measured.
    measurement: Measurement | None = None


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
    findings = [finding for rule in _rules(evidence) if (finding := rule(evidence))]
    python = python_findings(evidence)
    findings += [
        *eager_findings(evidence, python),
        *python,
        *_unexplained(evidence, python),
        *batch_findings(evidence, python),
    ]
    findings += [finding for rule in _EACH_REPORTS_SEVERAL for finding in rule(evidence)]
    worse = [said for finding in findings for said in finding.instead_of]
    findings = [finding for finding in findings if not any(_begins(finding.finding, said) for said in worse)]
    findings = sorted((widened(_with_places(evidence, finding)) for finding in findings), key=_rank)
    rows = pd.DataFrame([vars(finding) for finding in findings], columns=COLUMNS)
    table = rows if findings else empty_table(_TYPES)
    summary = {severity: int((table["severity"] == severity).sum()) for severity in _RANKS}
    why_empty = _unnamed(evidence) if len(evidence.steps.table) else _NO_STEPS
    return Advice(table, summary, [] if findings else [why_empty])


def _begins(finding: str, said: str) -> bool:
    """Whether a finding begins so; what is said of line 3 does not begin as that of line 30 does.

    Examples
    --------
    >>> _begins("In[1] line 3 waits", "In[1] line 3"), _begins("In[1] line 30 waits", "In[1] line 3")
    (True, False)
    """
    return finding.startswith(said) and not (said[-1:].isdigit() and finding[len(said) :][:1].isdigit())


def _unnamed(evidence: Evidence) -> str:
    """Say that there is no finding, with what bounds the program; and where to look if much of the time has no name."""
    if on_host := _waits_for_host(evidence):
        return f"No rule of the advice applies. {on_host}"
    other, between = evidence.percent("other"), evidence.percent("between_steps")
    if max(other, between) < _HIGH_UNEXPLAINED_PERCENT or not len(evidence.python.table):
        return f"{_NO_FINDINGS}{_bound(evidence)}"
    where = (
        f"{_units.percent(other)} of each step is Python code and other time outside of ops"
        if other >= between
        else f"{_units.percent(between)} of the time from the first step to the last is between the steps"
    )
    return f"No rule of the advice applies. {where}: the Python page shows its lines."


def _waits_for_host(evidence: Evidence) -> str:
    """Say that ops of the host take most of each step while its device does not compute; empty if they do not."""
    host, device = evidence.percent("host_compute"), evidence.percent("device_compute")
    if not device or host < _HIGH_HOST_PERCENT:
        return ""
    ops = evidence.ops.table
    longest = ops[ops["side"] == "host"].nlargest(1, "self_us")["op_name"]
    name = f" Of the host's ops, {_units.shorten(longest.iloc[0], 60)} has the most self time." if len(longest) else ""
    shares = _units.percent(host), _units.percent(device)
    return f"Host compute takes {shares[0]} of each step, the device computes for {shares[1]}.{name}"


def _bound(evidence: Evidence) -> str:
    """Say how near the program is to what the machine can do, and how little of the capture that is about."""
    (cores, count), computing = evidence.own_cores, evidence.percent("device_compute")
    summary = evidence.overview.summary
    measured = float(summary["measured_steps_ms"]) / max(float(summary["capture_ms"]), 1e-9)
    few = f" Only {_units.share(measured)} of the capture is in measured steps" if measured < _FEW_MEASURED else ""
    few += f"{_longest_outside(evidence)}." if few else ""
    if computing:
        return f" The device computes for {_units.percent(computing)} of each step.{few}"
    busy = f" The program kept {cores:.1f} of {count} processors busy." if cores > 0 else ""
    return f"{busy}{few}"


def _longest_outside(evidence: Evidence) -> str:
    """Name the line that takes most of the capture before the first step and after the last; empty without one."""
    table, whole_ms = evidence.python.table, float(evidence.overview.summary["capture_ms"])
    table = table[(table["thread"] == "main") & (table["line"] > 0)]
    longest = table.groupby(["file", "line"])["outside_ms"].sum().nlargest(1)
    if not len(longest) or longest.iloc[0] < _FEW_MEASURED * whole_ms:
        return ""
    file, line = longest.index[0]
    place, code = place_of(str(file), int(line)), _units.shorten(evidence.code.line(str(file), int(line)), 80)
    return f"; {_units.share(longest.iloc[0] / whole_ms)} is in {f'`{code}` ' if code else ''}({place})"


def _with_places(evidence: Evidence, finding: Finding) -> Finding:
    """Name lines as those of the cell that was profiled, and files as they are called from the working folder."""
    texts: dict[str, Any] = {name: evidence.code.of_this_run(getattr(finding, name)) for name in _PLACED}
    return _with_short_paths(replace(finding, **texts))


def _with_short_paths(finding: Finding) -> Finding:
    """Name files below the working folder as they are called from there."""
    try:
        folder = f"{Path.cwd()}{os.sep}"
    except FileNotFoundError:  # it is gone
        return finding
    texts = {name: getattr(finding, name).replace(folder, "") for name in _PLACED}
    return replace(finding, **texts)


def _rank(finding: Finding) -> tuple[int, int, float]:
    """Order by severity; then eager ops, whose cost shows as Python, and places but the batch size; then by gain."""
    named = finding.place and not finding.finding.startswith(SMALL_STEPS)
    kind = 0 if finding.finding.startswith(EAGER) else 1 if named else 2
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
    is_saved: bool = True


_SHARE_RULES = (
    _ShareRule(
        "output",
        MODERATELY_PERCENT,
        HIGHLY_PERCENT,
        "Results are copied from the device in every step",
        "is spent copying results from the device to the host",
        "Fetch losses and metrics every few steps instead of in every step: {waits} copy and wait.",
    ),
    _ShareRule(
        "device_collectives",
        _OVERHEAD_PERCENT,
        HIGH_OVERHEAD_PERCENT,
        "Devices wait for one another",
        "is spent on collective communication",
        "Use larger batches per device for fewer exchanges of gradients, or 16-bit gradients to halve each exchange.",
    ),
    _ShareRule(
        "device_to_device",
        _COPYING_PERCENT,
        _HIGH_COPYING_PERCENT,
        f"{COPIES} for much of each step",
        "is spent on copies between the memories of a device, or between devices",
        "Look at the longest copies in the trace: which arrays they move, and whether each step needs them.",
        is_saved=False,
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
                rule.fix.format(waits=_WAITS[evidence.overview.summary["framework"]]),
                percent if rule.is_saved else float("nan"),
            )


def _unexplained(evidence: Evidence, python: Sequence[Finding]) -> Iterator[Finding]:
    """Report time outside of ops that no finding on Python explains, if steps are short enough to be joined.

    Within a session's run no Python runs, and without Keras' epochs nothing tells what kind of program it is.
    """
    percent = evidence.percent("other")
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    mostly_eager = eager_percent(evidence) >= MOSTLY_EAGER_PERCENT and not runs_functions(evidence)
    on_tpu = str(evidence.overview.summary["device_type"]).startswith("TPU")  # whose hosts record little
    if (
        python
        or not evidence.is_tensorflows
        or on_tpu
        or percent < _UNEXPLAINED_PERCENT
        or mostly_eager
        or are_session_runs(evidence.steps)
    ):
        return
    short = float(evidence.steps.measured["step_ms"].median()) <= _SHORT_STEP_MS
    sampled = len(evidence.python.table) > 0
    if sampled and not (short and by_keras):
        return
    spent = "in Python code of Keras and TensorFlow" if sampled else "where TensorFlow records nothing"
    joined = short and by_keras
    severity = severity_of(percent, _UNEXPLAINED_PERCENT, _HIGH_UNEXPLAINED_PERCENT)
    yield Finding(
        severity if sampled else "medium",
        BETWEEN_OPS if sampled else _UNRECORDED,
        f"{evidence.of_step('other_ms')} is spent {spent}.",
        "Set steps_per_execution=10 in model.compile: Keras then starts ten steps at once."
        if joined
        else "Look at the gaps in the trace. To see which lines run there, profile with %%tfprofile.",
        percent,
        proved_by="python" if sampled else "steps",
        gain_low_percent=_LEAST_JOINED * percent if joined else float("nan"),
        gain_high_percent=percent if joined else float("nan"),
    )


def _between_steps(evidence: Evidence) -> Finding | None:
    """Report time between the steps, where no samples of Python tell what it is."""
    if len(evidence.python.table):
        return None
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
    # Stages of the input pipeline, Python in it and printing have their own findings.
    top = top[
        ~top["op_type"].isin(["Dataset", *PYTHON_OPS, *PRINTING_OPS])
        & ~top["op_type"].where(top["op_type"] != "", top["op_name"]).str.contains(_NO_WORK)
    ]
    busy = max(("host_compute", "device_compute"), key=evidence.percent)
    if not len(top) or top["self_share"].iloc[0] < _DOMINANT_OP_SHARE or evidence.percent(busy) < HIGH_OVERHEAD_PERCENT:
        return None
    op = top.iloc[0]
    if busy != f"{op['side']}_compute" or (op["side"] == "host" and _in_pipeline(evidence, str(op["op_name"]))):
        return None
    return Finding(
        "info",
        f"{ONE_OP}: {op['op_type'] or _units.shorten(op['op_name'], 40)}",
        f"{_units.shorten(op['op_name'], 80)} takes {_units.share(op['self_share'])} of all op self time on the "
        f"{op['side']}.",
        "Start with this op: look at its shapes, at how often it runs, and whether every step needs it.",
        proved_by="ops",
        op_name=str(op["op_name"]),
    )


def _in_pipeline(evidence: Evidence, op_name: str) -> bool:
    """Whether an op is made in a function that the program gives to a dataset: of the input other rules speak."""
    ops = evidence.source().all_ops
    ops = ops[ops["op_name"] == op_name]
    mapped = [evidence.code.lines_mapped(*place) for place in evidence.code.find(r"\.map\(")]
    return any(((ops["file"] == file) & ops["line"].between(first, last)).any() for file, first, last in mapped if last)


def _rules(evidence: Evidence) -> tuple[Callable[[Evidence], Finding | None], ...]:
    """Return the rules that may apply: most cures are TensorFlow's."""
    return (*_TENSORFLOWS, _dominant_op) if evidence.is_tensorflows else (_dominant_op,)


_TENSORFLOWS: tuple[Callable[[Evidence], Finding | None], ...] = (
    input_bound,
    validation_input,
    copies_to_device,
    input_outside_steps,
    _between_steps,
)
_EACH_REPORTS_SEVERAL: tuple[Callable[[Evidence], Iterable[Finding]], ...] = (
    _shares,
    adapt_findings,
    fit_again_findings,
    metrics_findings,
    retracing_findings,
    iterator_end_findings,
    device_findings,
    gpu_findings,
    foreign_findings,
    layer_findings,
    padding_findings,
    augmentation_findings,
    small_ops_findings,
    precision_findings,
    one_hot_findings,
    sparse_findings,
    softmax_findings,
    pair_findings,
    table_findings,
    lookup_findings,
    loop_copy_findings,
    printing_findings,
    checking_findings,
    where_findings,
    sort_findings,
    jacobian_findings,
    mapping_findings,
    element_findings,
    repeated_findings,
    same_tensor_findings,
    memory_findings,
)
