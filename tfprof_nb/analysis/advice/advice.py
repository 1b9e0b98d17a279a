"""What to change: one rule for each practice of the TensorFlow Profiler guide that a profile can check.

A rule reports nothing without evidence. It estimates the gain only where there is a ground for an estimate.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.batch_advice import batch_findings
from tfprof_nb.analysis.advice.device_advice import device_findings
from tfprof_nb.analysis.advice.element_advice import element_findings
from tfprof_nb.analysis.advice.findings import (
    BETWEEN_OPS,
    EAGER,
    ONE_LAYER,
    ONE_OP,
    SMALL_STEPS,
    Evidence,
    Finding,
    at_most,
    severity_of,
)
from tfprof_nb.analysis.advice.float64_advice import float64_findings
from tfprof_nb.analysis.advice.gpu_advice import (
    BFLOAT16_ARCHITECTURES,
    TENSOR_CORE_ARCHITECTURES,
    gpu_findings,
    has_architecture,
)
from tfprof_nb.analysis.advice.input_advice import copies_to_device, input_bound, input_outside_steps
from tfprof_nb.analysis.advice.input_causes import PYTHON_OPS
from tfprof_nb.analysis.advice.layer_advice import layer_findings
from tfprof_nb.analysis.advice.memory_advice import memory_findings
from tfprof_nb.analysis.advice.one_hot_advice import one_hot_findings
from tfprof_nb.analysis.advice.pair_advice import pair_findings
from tfprof_nb.analysis.advice.printing_advice import PRINTING_OPS, printing_findings
from tfprof_nb.analysis.advice.python_advice import python_findings
from tfprof_nb.analysis.advice.repeated_advice import repeated_findings
from tfprof_nb.analysis.advice.retracing_advice import retracing_findings
from tfprof_nb.analysis.advice.same_tensor_advice import same_tensor_findings
from tfprof_nb.analysis.advice.small_ops_advice import small_ops_findings
from tfprof_nb.analysis.advice.softmax_advice import softmax_findings
from tfprof_nb.analysis.advice.table_advice import table_findings
from tfprof_nb.analysis.advice.validation_advice import validation_input
from tfprof_nb.analysis.benchmark_input import InputBenchmark
from tfprof_nb.analysis.result import Result, empty_table
from tfprof_nb.analysis.source.code import line_at, place_of
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
_RANKS = {"high": 0, "medium": 1, "info": 2}
# Shares of step time that the guide calls a moderate and a high cost (`op_stats_to_overview_page.cc`).
_OVERHEAD_PERCENT, HIGH_OVERHEAD_PERCENT = 3.0, 15.0
_EAGER_LINE_PERCENT = 15.0
_COPYING_PERCENT, _HIGH_COPYING_PERCENT = 15.0, 40.0
# Calls that run a graph.
_RUNS_GRAPHS = r"Function\.__call__|Trainer\.|on_batch"
_EAGER_PERCENT, _EXPENSIVE_CALL_PERCENT, _FEW_16_BIT_PERCENT = 10.0, 20.0, 10.0
_MOSTLY_COMPUTING_PERCENT = 50.0
_FETCHING_OPS = "Iterator|Optional|Dataset"  # Keras fetches its data with these, always eagerly
_OR_BFLOAT16 = ' On this GPU "mixed_bfloat16" is a choice, too: it needs no loss scaling.'
_DOMINANT_OP_SHARE = 0.3
# Ops that hand values on, or wait for those of others: nothing is in their shapes.
_NO_WORK = "Variable|Assign|Iterator|Identity|NoOp|Send|Recv|LogicalAnd"
_MOSTLY_EAGER_PERCENT = 50.0
_NOT_EAGERLY_IN_KERAS = "Remove run_eagerly=True from model.compile, and tf.config.run_functions_eagerly(True)."
_NOT_EAGERLY = "Put @tf.function on the function that runs a step."
_ASKED_TO_RUN_EAGERLY = r"(run_eagerly *= *(?!False\b|None\b|=)\S|tf\.config\.run_functions_eagerly\((?!False\b)\S)"
# Programs of small ops became 2 to 20 times faster (docs/advice-truth.md).
_EAGER_GAIN_PERCENT = 50.0, 95.0
# Below the first share, time outside of ops is normal; in steps as short as this, it is the fixed cost of a step.
_UNEXPLAINED_PERCENT, _HIGH_UNEXPLAINED_PERCENT, _SHORT_STEP_MS = 10.0, 25.0, 20.0
_UNRECORDED = "Much of each step is not recorded"
_LEAST_JOINED = 0.3  # of the time between ops: each step still runs some Python of its own
_BETWEEN_PERCENT, _FEW_MEASURED = 20.0, 0.25
_NO_FINDINGS = "Nothing in this profile calls for a change."
_NO_STEPS = "Without steps there is little to base advice on: the notes on the steps say how to get them."


@dataclass(frozen=True)
class Measurement:
    """What can be measured on request: the expression of the program's dataset, the code, and what runs it."""

    dataset: str
    code: str
    run: Callable[[], InputBenchmark]


class Advice(Result):
    """Findings, most severe first. Gains are estimates, in percent of step time; NaN if there is no ground for one.

    ``place`` is the line to change, ``change`` the code for the place of that line, or of the call that begins there;
    both are empty if unknown. ``gain_low_percent`` and ``gain_high_percent`` are the range of the gain.
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
    findings += [*_eager(evidence, python), *python, *_unexplained(evidence, python), *batch_findings(evidence, python)]
    findings += [finding for rule in _EACH_REPORTS_SEVERAL for finding in rule(evidence)]
    worse = [said for finding in findings for said in finding.instead_of]
    findings = [finding for finding in findings if not any(_begins(finding.finding, said) for said in worse)]
    findings = sorted(map(_with_short_paths, findings), key=_rank)
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
    other = evidence.percent("other")
    if other < _HIGH_UNEXPLAINED_PERCENT or not len(evidence.python.table):
        return f"{_NO_FINDINGS}{_bound(evidence)}"
    return (
        f"No rule of the advice applies. {_units.percent(other)} of each step is Python code and other time outside of "
        "ops: the Python page shows its lines."
    )


def _bound(evidence: Evidence) -> str:
    """Say how near the program is to what the machine can do, and how little of the capture that is about."""
    (cores, count), computing = evidence.own_cores, evidence.percent("device_compute")
    summary = evidence.overview.summary
    measured = float(summary["measured_steps_ms"]) / max(float(summary["capture_ms"]), 1e-9)
    few = f" Only {_units.share(measured)} of the capture is in measured steps." if measured < _FEW_MEASURED else ""
    if computing:
        return f" The device computes for {_units.percent(computing)} of each step.{few}"
    busy = f" The program kept {cores:.1f} of {count} processors busy." if cores > 0 else ""
    return f"{busy}{few}"


def _with_short_paths(finding: Finding) -> Finding:
    """Name files below the working folder as they are called from there."""
    try:
        folder = f"{Path.cwd()}{os.sep}"
    except FileNotFoundError:  # it is gone
        return finding
    texts = {name: getattr(finding, name).replace(folder, "") for name in ("finding", "evidence", "fix", "place")}
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
    _ShareRule(
        "device_to_device",
        _COPYING_PERCENT,
        _HIGH_COPYING_PERCENT,
        "Devices copy arrays for much of each step",
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
                rule.fix,
                percent if rule.is_saved else float("nan"),
            )


def _eager(evidence: Evidence, python: Sequence[Finding]) -> list[Finding]:
    """Check ops that run repeatedly: an op that runs eagerly once, before the steps, costs them nothing."""
    percent = _eager_percent(evidence)
    if not evidence.is_tensorflows:
        return []
    if evidence.percent("eager") <= _EAGER_PERCENT or percent <= _EAGER_PERCENT:
        return []
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    mostly = percent >= _MOSTLY_EAGER_PERCENT and not _runs_functions(evidence)
    if _runs_functions(evidence) and by_keras:  # what is eager then is Keras' own work, such as saving
        return []
    if _runs_functions(evidence):
        return _eager_line(evidence, percent, python)
    asked = next(evidence.code.find(_ASKED_TO_RUN_EAGERLY), None)
    function, place, change = ("", *_without_eagerly(evidence, *asked)) if asked else _step_function(evidence)
    needs = "" if asked else evidence.code.uses_values(*line_at(place))
    if needs:
        change = ""
    fix = _split(function, needs) if needs else _decorated(function, change) if place else _NOT_EAGERLY
    what = _asks(evidence, asked) if asked else function
    return [
        Finding(
            "high" if mostly else "medium",
            f"{EAGER}{what and ': '}{f'{what} ({place})' if what and place else what}",
            f"{_units.percent(percent)} of op self time ran eagerly, outside any tf.function: Python starts each op.",
            _without(evidence, asked) if asked else _NOT_EAGERLY_IN_KERAS if by_keras else fix,
            proved_by="ops",
            place=place,
            gain_low_percent=_EAGER_GAIN_PERCENT[0] if mostly else float("nan"),
            gain_high_percent=_EAGER_GAIN_PERCENT[1] if mostly else float("nan"),
            change=change,
        )
    ]


def _eager_line(evidence: Evidence, percent: float, python: Sequence[Finding]) -> list[Finding]:
    """Name the line that runs most ops one by one beside tf.functions, unless a finding on Python tells more."""
    calls = evidence.python.calls
    calls = calls[(calls["thread"] == "main") & (calls["line"] > 0) & ~calls["call"].str.contains(_RUNS_GRAPHS)]
    calls = calls.assign(line_ms=calls.groupby(["file", "line"])["ops_ms"].transform("sum"))
    calls = calls.sort_values("line_ms", ascending=False, kind="stable")
    lines = calls["line_ms"]
    whole_ms = float(evidence.steps.table["step_ms"].sum())
    if lines.empty or percent < _MOSTLY_EAGER_PERCENT or 100 * lines.max() < _EAGER_LINE_PERCENT * whole_ms:
        return []
    (file, line), share = calls[["file", "line"]].iloc[0], float(lines.iloc[0]) / whole_ms
    place, code, change = place_of(file, line), evidence.code.line(file, line), ""
    what = f"`{_units.shorten(code, 80)}`" if code else "The line"
    fix = "Put these ops into a function with @tf.function, or into the one that the loop calls already."
    function = str(calls["function"].iloc[0])
    if definition := _traceable(evidence, file, function):
        share = float(calls.loc[(calls["function"] == function) & (calls["file"] == file), "ops_ms"].sum()) / whole_ms
        place, what = place_of(file, definition), function
        change = f"@tf.function\n{evidence.code.line(file, definition)}"
        fix = _decorated(function, change)
    if any(finding.estimated_gain_percent >= 100 * share for finding in python):
        return []
    return [
        Finding(
            severity_of(100 * share, _EAGER_LINE_PERCENT, _HIGH_UNEXPLAINED_PERCENT),
            f"{EAGER}: {f'{function} ({place})' if definition else place}",
            f"{what} takes {_units.share(share)} of the steps: its ops run outside any tf.function, where Python "
            f"starts each. {_units.percent(percent)} of op self time is eager.",
            fix,
            100 * share,
            proved_by="python",
            place=place,
            gain_low_percent=_EAGER_GAIN_PERCENT[0] * share,
            gain_high_percent=at_most(100 * share),
            change=change,
            instead_of=ONE_LAYER,
        )
    ]


def _traceable(evidence: Evidence, file: str, function: str) -> int:
    """Return the line of the ``def`` of a function whose body can be a graph; 0 if it must run as it is."""
    line = evidence.code.definition(file, function) if function != "<module>" else 0
    forbids = evidence.code.uses_values(file, line) or evidence.code.has_effects(file, line)
    return line if line and not forbids and not evidence.code.line(file, line - 1).startswith("@") else 0


def _without_eagerly(evidence: Evidence, file: str, line: int) -> tuple[str, str]:
    """Return the place that asks for eager execution, and the code without that."""
    if evidence.code.line(file, line).startswith("tf.config."):
        return place_of(file, line), "tf.config.run_functions_eagerly(False)"
    begin, change = evidence.code.without_argument(file, line, "run_eagerly")
    return place_of(file, begin or line), change


def _step_function(evidence: Evidence) -> tuple[str, str, str]:
    """Return the user's function that runs most of the time, its place and the code that decorates it.

    Of functions that call one another it is the innermost with most of the time. Without one, the place is that of the
    line with most time.
    """
    table = evidence.python.table
    table = table[(table["thread"] == "main") & (table["line"] > 0)]
    if table.empty:
        return "", "", ""
    totals = table[table["function"] != "<module>"].groupby(["function", "file"], sort=False)["total_ms"].sum()
    large = totals[totals >= _MOSTLY_EAGER_PERCENT / 100 * float(table["self_ms"].sum())]
    if large.empty:
        return "", place_of(table.iloc[0]["file"], table.iloc[0]["line"]), ""
    name, file = map(str, large.index[int(np.argmin(large))])
    line = evidence.code.definition(file, name)
    place = place_of(file, line) if line else ""
    return name, place, f"@tf.function\n{evidence.code.line(file, line)}" if line else ""


def _decorated(function: str, change: str) -> str:
    """Say what to put into a tf.function."""
    if not function:
        return "Move the body of the loop into a function, and put @tf.function above it."
    before = f"`{_units.shorten(change.splitlines()[1], 80)}`" if change else function
    return (
        f"Put @tf.function above {before}. Its ops then run as one graph; Python code in it, such as print or "
        ".numpy(), runs only when it is traced."
    )


def _split(function: str, needs: str) -> str:
    """Say what to put into a tf.function where a function needs values, which only exist outside of it."""
    return (
        f"Put what {function} computes with tensors into a function of its own with @tf.function, and leave the rest "
        f"outside: `{needs}` needs values, which do not exist while a function is traced. For a single model, "
        "`model = tf.function(model)` does it."
    )


def _without(evidence: Evidence, asked: tuple[str, int]) -> str:
    """Say which request for eager execution to remove."""
    given = re.search(r"run_eagerly *= *[\w.]+", evidence.code.line(*asked))
    what = given[0].replace(" ", "") if given and _asks(evidence, asked) == "run_eagerly" else "the line"
    return f"Remove {what}: it is for debugging."


def _asks(evidence: Evidence, asked: tuple[str, int]) -> str:
    """Name what asks for eager execution."""
    return "run_functions_eagerly" if "run_functions_eagerly" in evidence.code.line(*asked) else "run_eagerly"


def _runs_functions(evidence: Evidence) -> bool:
    """Whether tf.functions are called at least once per step, other than those that trace."""
    calls = evidence.functions.table
    return bool(calls.loc[calls["mode"] != "eager", "calls"].sum() >= max(evidence.steps.summary["steps"], 1))


def _eager_percent(evidence: Evidence) -> float:
    ops = evidence.ops.table
    ops = ops[(ops["side"] == "host") & ~ops["op_type"].str.contains(_FETCHING_OPS)]
    repeated = ops["eager"].astype(bool) & (ops["occurrences"] >= max(evidence.steps.summary["steps"], 1))
    return float(100 * ops.loc[repeated, "self_us"].sum() / (ops["self_us"].sum() or 1))


def _unexplained(evidence: Evidence, python: Sequence[Finding]) -> Iterator[Finding]:
    """Report time outside of ops that no finding on Python explains, if steps are short enough to be joined.

    Within a session's run no Python runs, and without Keras' epochs nothing tells what kind of program it is.
    """
    percent = evidence.percent("other")
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    mostly_eager = _eager_percent(evidence) >= _MOSTLY_EAGER_PERCENT and not _runs_functions(evidence)
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


def _precision(evidence: Evidence) -> Finding | None:
    capable = has_architecture(evidence, TENSOR_CORE_ARCHITECTURES)
    choice = _OR_BFLOAT16 if has_architecture(evidence, BFLOAT16_ARCHITECTURES) else ""
    if not capable or not evidence.percent("fp32") > 0 or evidence.percent("fp16") >= _FEW_16_BIT_PERCENT:
        return None
    if evidence.percent("device_compute") < _MOSTLY_COMPUTING_PERCENT:  # else faster compute gains little
        return None
    return Finding(
        "medium",
        "The device computes in 32 bit",
        f"{_units.percent(evidence.percent('fp16'))} of device compute time is 16-bit, on a device with tensor cores.",
        f'Call keras.mixed_precision.set_global_policy("mixed_float16") before building the model.{choice}',
        proved_by="kernels",
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
    top = top[~top["op_type"].isin(["Dataset", *PYTHON_OPS, *PRINTING_OPS]) & ~top["op_type"].str.contains(_NO_WORK)]
    busy = max(("host_compute", "device_compute"), key=evidence.percent)
    if not len(top) or top["self_share"].iloc[0] < _DOMINANT_OP_SHARE or evidence.percent(busy) < HIGH_OVERHEAD_PERCENT:
        return None
    op = top.iloc[0]
    return Finding(
        "info",
        f"{ONE_OP}: {op['op_type'] or _units.shorten(op['op_name'], 40)}",
        f"{_units.shorten(op['op_name'], 80)} takes {_units.share(op['self_share'])} of all op self time on the "
        f"{op['side']}.",
        "Start with this op: look at its shapes, at how often it runs, and whether every step needs it.",
        proved_by="ops",
        op_name=str(op["op_name"]),
    )


def _rules(evidence: Evidence) -> tuple[Callable[[Evidence], Finding | None], ...]:
    """Return the rules that may apply: most cures are TensorFlow's."""
    return (*_TENSORFLOWS, _dominant_op) if evidence.is_tensorflows else (_dominant_op,)


_TENSORFLOWS: tuple[Callable[[Evidence], Finding | None], ...] = (
    input_bound,
    validation_input,
    copies_to_device,
    input_outside_steps,
    _precision,
    _between_steps,
)
_EACH_REPORTS_SEVERAL: tuple[Callable[[Evidence], Iterable[Finding]], ...] = (
    _shares,
    retracing_findings,
    device_findings,
    gpu_findings,
    layer_findings,
    small_ops_findings,
    float64_findings,
    one_hot_findings,
    softmax_findings,
    pair_findings,
    table_findings,
    printing_findings,
    element_findings,
    repeated_findings,
    same_tensor_findings,
    memory_findings,
)
