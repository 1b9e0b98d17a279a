"""What the catalogue makes of a rule's cases: findings, with their severity and gain, and how they name places."""

import math
from dataclasses import replace

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.rule import Case, Finding, Rule, Severity

_RECORDED_LONGER = 1.33
# By how much gains that were measured went past the ranges of the rules (`benchmarks.advice`): what is removed also
# frees caches and cores, which raises the odds of the saved time; and programs do other things as well.
_RELIEF, _BESIDE = 1.75, 0.75
_ONCE = " Building the graph takes time once, in the first call: a run as short as this may gain nothing."


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
        case.percent,
        estimated,
        case.proved_by or rule.page,
        case.op_name,
        case.start_ms,
        case.duration_ms,
        case.place,
        low,
        high,
        case.change,
        case.without_change,
        case.of or rule.of,
        case.rule or rule.id,
        subject=case.subject,
        instead_of=case.instead_of,
    )
    once_ms = rule.once_ms if case.once_ms is None else case.once_ms
    return with_first_call(evidence, finding, once_ms) if once_ms else finding


def with_first_call(evidence: Evidence, finding: Finding, once_ms: float) -> Finding:
    """Return a finding whose fix costs time once: it says so, and may gain nothing, if the run saves no more."""
    of_training = training_ms(evidence) if finding.gain_of != "cell" else 0.0
    whole_ms = of_training or float(evidence.overview.summary["capture_ms"])
    if not finding.gain_low_percent * whole_ms / 100 < once_ms:
        return finding
    without_change = finding.without_change and finding.without_change + _ONCE
    return replace(finding, fix=finding.fix + _ONCE, without_change=without_change, gain_low_percent=0.0)


def severity_of(percent: float, moderate: float, high: float) -> Severity:
    """Return the severity of a share, given the bounds of a moderate and of a high one."""
    return "high" if percent >= high else "medium" if percent >= moderate else "info"


def at(place: str) -> str:
    """Return a place behind what is there; empty for an unknown one.

    Examples
    --------
    >>> at("In[1] line 3"), at("")
    (' (In[1] line 3)', '')
    """
    return f" ({place})" if place else ""


def quoted(code: str, width: int = 80) -> str:
    """Return code as a finding shows it, shortened.

    Examples
    --------
    >>> quoted("x = 1")
    '`x = 1`'
    """
    return f"`{_units.shorten(code, width)}`"


def in_code(place: str, code: str) -> str:
    """Name a line by its code and place, or by its place alone."""
    return f"{quoted(code)} ({place})" if code else f"The line at {place}"
