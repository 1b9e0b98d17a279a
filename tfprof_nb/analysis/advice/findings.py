"""What a rule of advice returns (`Case`), and what the catalogue makes of that (`Finding`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.rule import GainOf, Rule

_RECORDED_LONGER = 1.33
# By how much gains that were measured went past the ranges of the rules (`benchmarks.advice`): what is removed also
# frees caches and cores, which raises the odds of the saved time; and programs do other things as well.
_RELIEF, _BESIDE = 1.75, 0.75
_USUAL = 0.65  # of a range, from its low end: half of the measured gains lie above
_ONCE = " Building the graph takes time once, in the first call: a run as short as this may gain nothing."
Severity = Literal["high", "medium", "info"]


@dataclass(frozen=True)
class Case:
    """What a rule sees in one program.

    Attributes
    ----------
    percent
        The share of the time that it takes: it decides on the severity, and whether the case is told at all.
    finding, evidence, fix
        What is wrong, the numbers behind it, and what to change.
    place, change
        The line to change, and the code for it; empty if unknown.
    severity
        Where the share does not decide on it.
    saved
        The least and the most of the share that the fix saves, where these are not the rule's.
    gain
        The gain in percent, and its least and its most, where it is no part of the share.
    once_ms
        What the fix costs once, where that is not what the rule says.
    of
        What the gain is a share of, where that is not what the rule says.
    rule
        The rule that is a part of this one, where it says why.
    subject
        The function or object that it is about.
    instead_of
        Cases that say less about the same time, beside those of the rules that its rule supersedes: the rule, and the
        place or subject.
    proved_by
        The result that shows the evidence, where that is not the rule's.
    op_name, start_ms, duration_ms
        The event that shows it, and the time around that.
    """

    percent: float
    finding: str
    evidence: str
    fix: str
    place: str = ""
    change: str = ""
    severity: Severity | None = None
    saved: tuple[float, float | None] | None = None
    gain: tuple[float, float, float] | None = None
    once_ms: float | None = None
    of: GainOf | None = None
    rule: str = ""
    subject: str = ""
    instead_of: tuple[tuple[str, str], ...] = ()
    proved_by: str = ""
    op_name: str = ""
    start_ms: float = math.nan
    duration_ms: float = math.nan


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

    @property
    def cell_gain_percent(self) -> float:
        """How much of the cell its change usually saves, given its range; 0 if that is unknown."""
        usual = usual_gain(self.gain_low_percent, self.gain_high_percent)
        percent = self.estimated_gain_percent
        gain = percent if math.isnan(usual) else usual
        saved = gain * self.cell_percent / percent if percent > 0 else math.nan
        return 0.0 if math.isnan(saved) else saved


# The findings of rules that a rule reads, by rule.
Earlier = Mapping[str, Sequence[Finding]]


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


def usual_gain(low: float, high: float) -> float:
    """Return which gain of a range is told as one number: measured ones lie as often above it as below.

    Examples
    --------
    >>> usual_gain(20.0, 60.0)
    46.0
    """
    return low + _USUAL * (high - low)


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


def finding_of(rule: Rule, case: Case, evidence: Evidence) -> Finding:
    """Return a case of a rule with its severity and gain."""
    nothing = (math.nan, math.nan)
    least, most = case.saved or rule.saved or nothing
    estimated, low, high = case.gain or (
        case.percent if rule.saved else math.nan,
        least * case.percent,
        at_most(case.percent) if most is None else most * case.percent,
    )
    finding = Finding(
        case.severity or severity_of(case.percent, rule.moderate, rule.high),
        case.finding,
        case.evidence,
        case.fix,
        estimated,
        case.proved_by or rule.page,
        case.op_name,
        case.start_ms,
        case.duration_ms,
        case.place,
        low,
        high,
        case.change,
        case.of or rule.of,
        case.rule or rule.id,
        subject=case.subject,
        instead_of=case.instead_of,
    )
    once_ms = rule.once_ms if case.once_ms is None else case.once_ms
    return with_first_call(evidence, finding, once_ms) if once_ms else finding


def with_first_call(evidence: Evidence, finding: Finding, once_ms: float) -> Finding:
    """Return a finding whose fix costs time once: it says so, and may gain nothing, if the run saves no more."""
    whole_ms = training_ms(evidence) or float(evidence.overview.summary["capture_ms"])
    if not finding.gain_low_percent * whole_ms / 100 < once_ms:
        return finding
    return replace(finding, fix=finding.fix + _ONCE, gain_low_percent=0.0)


def severity_of(percent: float, moderate: float, high: float) -> Severity:
    """Return the severity of a share, given the bounds of a moderate and of a high one."""
    return "high" if percent >= high else "medium" if percent >= moderate else "info"
