"""What to change: one rule for each practice of the TensorFlow Profiler guide that a profile can check.

A rule reports nothing without evidence. It estimates the gain only where there is a ground for an estimate.
"""

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import catalogue
from tfprof_nb.analysis.advice.checked_change import checked
from tfprof_nb.analysis.advice.claims import claimed
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.findings import widened
from tfprof_nb.analysis.advice.rule import Finding
from tfprof_nb.analysis.advice.rules.input.validation_input_bound import with_validation
from tfprof_nb.analysis.advice.rules.python._unexplained import HIGH_UNEXPLAINED_PERCENT
from tfprof_nb.analysis.benchmark_input import InputBenchmark
from tfprof_nb.analysis.result import Result, empty_table
from tfprof_nb.analysis.source.code import place_of

_FEW_MEASURED, _HIGH_HOST_PERCENT = 0.25, 50.0
_NO_FINDINGS = "Nothing in this profile calls for a change."
_TYPES = {
    **dict.fromkeys(("severity", "finding", "evidence", "fix"), "str"),
    "estimated_gain_percent": np.float64,
    "place": "str",
    **dict.fromkeys(("gain_low_percent", "gain_high_percent"), np.float64),
    **dict.fromkeys(("change", "proved_by", "op_name"), "str"),
    **dict.fromkeys(("start_ms", "duration_ms"), np.float64),
    **dict.fromkeys(("gain_of", "rule", "node"), "str"),
    "cell_percent": np.float64,
}
COLUMNS = list(_TYPES)
_PLACED = ("finding", "evidence", "fix", "without_change", "place")  # what may name a line
_LEAST_PERCENT = 1.0  # of the cell: what is about less is not told
_RANKS = {"high": 0, "medium": 1, "info": 2}
_NO_STEPS = "Without steps there is little to base advice on. The page Steps says how to get them."

_LEFT_OUT = "Findings of rules that are ignored are left out: {}."


@dataclass(frozen=True)
class Measurement:
    """What can be measured on request: the expression of the program's dataset, the code, and what runs it."""

    dataset: str
    code: str
    run: Callable[[], InputBenchmark]


class Advice(Result):
    """Findings, most severe first. Gains are estimates, in percent; NaN if there is no ground for one.

    ``gain_of`` says what a gain is a share of: "the time" where that is most of the cell's time, else "the steps' time"
    or "the time from the first step to the last", without tracing where that is much; it is empty where there is no
    estimate. ``place`` is the line to change, ``change`` the code for the place of that line, or of the call or
    function that begins there, behind the imports that it needs at the top; both are empty if unknown. Code is given
    only where it was put into the program's text and checked. ``gain_low_percent`` and ``gain_high_percent`` are the
    range of the gain. ``proved_by`` is the result that shows the evidence. If a single event shows it, ``op_name`` is
    the event's name in the trace, and ``start_ms`` and ``duration_ms`` are the time around it. ``rule`` is the id of
    the finding's rule (`rules`), ``node`` the part of the cell's time that it explains (an id of `p.breakdown`), where
    that is known, and ``cell_percent`` the share of the cell that it is about: without the first steps, which trace.
    """

    # Who makes a profile may say how its input can be measured.
    measurement: Measurement | None = None


def advice(evidence: Evidence, ignored: Collection[str] = ()) -> Advice:
    """Apply every rule.

    Parameters
    ----------
    ignored
        Rules whose findings are left out, with those of their parts.

    Returns
    -------
    Advice
        ``table`` is empty if there is nothing to change; a note says so.
    """
    found, failed = catalogue.findings(evidence)
    findings = with_validation(found)
    silent = {f.rule for f in findings if any(catalogue.belongs_to(f.rule, rule) for rule in ignored)}
    findings = catalogue.standing([finding for finding in findings if finding.rule not in silent])
    least = _LEAST_PERCENT if evidence.breakdown().of_cell else 0.0
    findings = [finding for finding in claimed(findings, evidence) if not finding.cell_percent < least]
    findings = [checked(evidence, _of_this_run(evidence, finding)) for finding in findings]
    findings = catalogue.ordered([_widened(_with_short_paths(finding)) for finding in findings])
    rows = pd.DataFrame([vars(finding) for finding in findings], columns=COLUMNS)
    times = rows["gain_of"].map(evidence.time_of).where(rows["gain_high_percent"].notna(), "")
    table = rows.assign(gain_of=times) if findings else empty_table(_TYPES)
    summary = {severity: int((table["severity"] == severity).sum()) for severity in _RANKS}
    why_empty = _why_none(evidence) if len(evidence.steps.table) else _NO_STEPS
    left_out = [_LEFT_OUT.format(", ".join(sorted(silent)))] if silent else []
    return Advice(table, summary, failed + (left_out or ([] if findings else [why_empty])))


def _widened(finding: Finding) -> Finding:
    return finding if catalogue.rules()[finding.rule].measured else widened(finding)


def _of_this_run(evidence: Evidence, finding: Finding) -> Finding:
    """Name lines as those of the cell that was profiled."""
    texts: dict[str, Any] = {name: evidence.code.of_this_run(getattr(finding, name)) for name in _PLACED}
    return replace(finding, **texts)


def _with_short_paths(finding: Finding) -> Finding:
    """Name files below the working folder as they are called from there."""
    try:
        folder = f"{Path.cwd()}{os.sep}"
    except FileNotFoundError:  # it is gone
        return finding
    texts = {name: getattr(finding, name).replace(folder, "") for name in _PLACED}
    return replace(finding, **texts)


def _why_none(evidence: Evidence) -> str:
    """Say that there is no finding, with what bounds the program; and where to look if much of the time has no name."""
    if on_host := _waits_for_host(evidence):
        return f"No rule of the advice applies. {on_host}"
    other, between = evidence.percent("other"), evidence.percent("between_steps")
    if max(other, between) < HIGH_UNEXPLAINED_PERCENT or not len(evidence.python.table):
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
