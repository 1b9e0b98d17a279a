"""What a rule of advice looks at (`Evidence`), and what it returns (`Finding`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tfprof_nb import _units
from tfprof_nb.analysis.advice.rule import GainOf, Rule
from tfprof_nb.analysis.breakdown.breakdown import Breakdown, no_breakdown
from tfprof_nb.analysis.events.compilations import Compilations
from tfprof_nb.analysis.events.removals import Sleeps
from tfprof_nb.analysis.functions.functions import Functions
from tfprof_nb.analysis.kernels import Kernels, kernels
from tfprof_nb.analysis.memory.memory import Memory, no_memory
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.analysis.overview import Overview
from tfprof_nb.analysis.python import Python
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.source import SourceLines, no_source
from tfprof_nb.analysis.step_ops.step_ops import StepOps, no_step_ops
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.analysis.tf_data.tf_data import TfData
from tfprof_nb.decode.sections.versions import Gpus

_NEARLY_ALL, _THE_TIME = 0.75, "the time"
_TIME_OF = {"steps": "the steps' time", "training": "the time from the first step to the last", "cell": _THE_TIME}
_RECORDED_LONGER = 1.33
# By how much gains that were measured went past the ranges of the rules (`benchmarks.advice`): what is removed also
# frees caches and cores, which raises the odds of the saved time; and programs do other things as well.
_RELIEF, _BESIDE = 1.75, 0.75
Severity = Literal["high", "medium", "info"]


@dataclass(frozen=True)
class Finding:
    """One thing to change.

    ``rule`` is the id of the rule that it is a case of, ``node`` the part of `p.breakdown` that it explains, and
    ``cell_percent`` the share of the cell that it is about.
    ``subject`` is the function or object that it is about. ``instead_of`` are cases that say less about the same time,
    beside those of the rules that its rule supersedes: the rule, and the place or subject.
    """

    severity: Severity
    finding: str
    evidence: str
    fix: str
    estimated_gain_percent: float = float("nan")
    proved_by: str = "steps"
    op_name: str = ""
    start_ms: float = float("nan")
    duration_ms: float = float("nan")
    place: str = ""
    gain_low_percent: float = float("nan")
    gain_high_percent: float = float("nan")
    change: str = ""
    gain_of: GainOf = "steps"
    rule: str = ""
    node: str = ""
    cell_percent: float = float("nan")
    subject: str = ""
    instead_of: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Evidence:
    """The results that rules look at.

    ``line_of`` returns the line that gave tf.data the slowest function with a name, or an empty text if that is
    unknown; ``code`` is the text of the program. ``step_ops`` returns the ops of typical steps, ``memory`` memory over
    time, ``source`` the lines of code and ``kernels`` those of GPUs: they are computed on first use. ``idle_devices``
    are the names of devices without work where others have some, and the number of all; ``own_cores`` how many
    processors the program kept busy, and how many it may use.
    """

    overview: Overview
    steps: Steps
    ops: Ops
    functions: Functions
    tf_data: TfData
    python: Python
    line_of: Callable[[str], str] = lambda _name: ""
    code: Code = field(default_factory=lambda: Code({}))
    step_ops: Callable[[], StepOps] = no_step_ops
    memory: Callable[[], Memory] = no_memory
    source: Callable[[], SourceLines] = no_source
    gpus: Sequence[Gpus] = ()
    idle_devices: tuple[Sequence[str], int] = ((), 0)
    own_cores: tuple[float, int] = (math.nan, 0)
    events: int = 0
    kernels: Callable[[], Kernels] = lambda: kernels(())
    compilations: Callable[[], Compilations] = lambda: Compilations(0, 0.0)
    sleeps: Callable[[], Sleeps] = Sleeps
    breakdown: Callable[[], Breakdown] = no_breakdown

    @property
    def is_tensorflows(self) -> bool:
        """Whether TensorFlow ran the program, so that its cures apply."""
        return bool(self.overview.summary["framework"] == "tensorflow")

    def percent(self, name: str) -> float:
        """Return a percentage of the overview; 0 if it is unknown, so that no rule applies."""
        value = float(self.overview.summary[f"{name}_percent"])
        return 0.0 if math.isnan(value) else value

    def time_of(self, part: GainOf) -> str:
        """Say what a share of a part of the program is a share of: of the time, if the part is nearly all of it."""
        summary = self.overview.summary
        parts_ms = {"steps": float(summary["measured_steps_ms"]), "training": training_ms(self) or math.inf}
        nearly_all = parts_ms.get(part, math.inf) >= _NEARLY_ALL * float(summary["capture_ms"])
        return _THE_TIME if nearly_all else _TIME_OF[part]

    def of_training(self, percent: float) -> str:
        """Say how much of the time from the first step to the last something takes."""
        return f"{_units.percent(percent)} of {self.time_of('training')}"

    def of_step(self, column: str) -> str:
        """Say how much of the average step a category takes."""
        part, whole = (self.steps.summary[name] for name in (f"{column}_mean", "step_ms_mean"))
        return f"{_units.milliseconds(part)} of the average step's {_units.milliseconds(whole)}"


def training_ms(evidence: Evidence) -> float:
    """Return the time from each host's first step to its last, without warm-up steps; with them if there are no others.

    Warm-up steps are much longer: in shares of their time, nothing that runs in every step would matter.
    """
    table = evidence.steps.table
    if table.empty:
        return 0.0
    spans = table.assign(end_ms=table["start_ms"] + table["step_ms"]).groupby("host")
    whole_ms = float((spans["end_ms"].max() - spans["start_ms"].min()).sum())
    return whole_ms - (0.0 if table["warm_up"].all() else float(table.loc[table["warm_up"], "step_ms"].sum()))


def at_most(percent: float) -> float:
    """Return the share of the time without a profiler that a share of the profiled time may be.

    Recording lengthens what TensorFlow runs by up to a third, and neither waiting nor Python.

    Examples
    --------
    >>> round(at_most(60.0)), at_most(0.0), at_most(100.0)
    (67, 0.0, 100.0)
    """
    return 100 * percent / (percent + (100 - percent) / _RECORDED_LONGER)


def widened(finding: Finding) -> Finding:
    """Return a finding with the range of its gain as wide as measured gains turned out to be.

    Examples
    --------
    >>> found = widened(Finding("high", "", "", "", gain_low_percent=40.0, gain_high_percent=60.0))
    >>> round(found.gain_low_percent), round(found.gain_high_percent)
    (30, 72)
    """
    high = min(finding.gain_high_percent, 100.0)
    odds = _RELIEF * high
    return replace(
        finding,
        gain_low_percent=_BESIDE * finding.gain_low_percent,
        gain_high_percent=100 * odds / (odds + 100 - high) if high > 0 else high,
    )


def gain_in_words(low_percent: float, high_percent: float, gain_of: str) -> str:
    """Say what a change could save; empty where there is no ground for an estimate.

    Examples
    --------
    >>> gain_in_words(29.6, 72.4, "the time")
    'Estimated saving: 30% to 72% of the time.'
    """
    if not high_percent >= 1:
        return ""
    return f"Estimated saving: {max(low_percent, 0.0):.0f}% to {high_percent:.0f}% of {gain_of}."


def saving(
    rule: Rule,
    percent: float,
    *,
    finding: str,
    evidence: str,
    fix: str,
    place: str = "",
    change: str = "",
    saved: tuple[float, float | None] | None = None,
    subject: str = "",
    instead_of: tuple[tuple[str, str], ...] = (),
) -> Finding:
    """Return the finding on what takes a share of some time.

    ``saved`` are the least and the most of the share that the fix saves, where these are not the rule's.
    """
    least, most = saved or rule.saved or (math.nan, math.nan)
    return Finding(
        severity_of(percent, rule.moderate, rule.high),
        finding,
        evidence,
        fix,
        percent,
        rule.page,
        place=place,
        gain_low_percent=least * percent,
        gain_high_percent=at_most(percent) if most is None else most * percent,
        change=change,
        gain_of=rule.of,
        rule=rule.id,
        subject=subject,
        instead_of=instead_of,
    )


def severity_of(percent: float, moderate: float, high: float) -> Severity:
    """Return the severity of a share, given the bounds of a moderate and of a high one."""
    return "high" if percent >= high else "medium" if percent >= moderate else "info"
