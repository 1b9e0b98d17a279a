"""What to change about categories of step time that cost too much: copies, and devices that exchange data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfprof_nb.analysis.advice.findings import Evidence, Finding, severity_of
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT

# Shares of step time that the guide calls a moderate and a high cost (`op_stats_to_overview_page.cc`).
_OVERHEAD_PERCENT, HIGH_OVERHEAD_PERCENT = 3.0, 15.0
_WAITS = {
    "tensorflow": ".numpy() and print()",
    "jax": "float(), conversions to NumPy and print()",
    "pytorch": ".item(), .cpu() and print()",
}

OUTPUT = Rule(
    "results-copied-each-step",
    "Results are copied from the device in every step",
    "Looks for time of the steps in which results are copied from the device to the host.",
    "The host waits until the step has run before it can copy, and prepares no next step meanwhile.",
    group="devices",
    moderate=MODERATELY_PERCENT,
    high=HIGHLY_PERCENT,
    frameworks=("tensorflow", "jax", "pytorch"),
)
COLLECTIVES = Rule(
    "collective-communication",
    "Devices wait for one another",
    "Looks for time of the steps in collective communication, such as the all-reduce of gradients.",
    "The devices compute nothing meanwhile. Larger batches per device exchange gradients less often.",
    group="devices",
    moderate=_OVERHEAD_PERCENT,
    high=HIGH_OVERHEAD_PERCENT,
    frameworks=("tensorflow", "jax", "pytorch"),
)
COPIES = Rule(
    "device-copies",
    "Devices copy arrays for much of each step",
    "Looks for time of the steps in copies between the memories of a device, or between devices.",
    "Copies that compute does not overlap make the step longer.",
    group="devices",
    moderate=15.0,
    high=40.0,
    frameworks=("tensorflow", "jax", "pytorch"),
)


@dataclass(frozen=True)
class _Category:
    """A category of step time that costs too much from some share on, and how to reduce it."""

    rule: Rule
    name: str
    finding: str
    spent: str
    fix: str
    is_saved: bool = True


_CATEGORIES = (
    _Category(
        OUTPUT,
        "output",
        "Results are copied from the device in every step",
        "is spent copying results from the device to the host",
        "Fetch losses and metrics every few steps instead of in every step: {waits} copy and wait.",
    ),
    _Category(
        COLLECTIVES,
        "device_collectives",
        "Devices wait for one another",
        "is spent on collective communication",
        "Use larger batches per device for fewer exchanges of gradients, or 16-bit gradients to halve each exchange.",
    ),
    _Category(
        COPIES,
        "device_to_device",
        "Devices copy arrays for much of each step",
        "is spent on copies between the memories of a device, or between devices",
        "Look at the longest copies in the trace: which arrays they move, and whether each step needs them.",
        is_saved=False,
    ),
)


def category_findings(evidence: Evidence) -> Iterator[Finding]:
    """Report each category that takes too much of the step."""
    for category in _CATEGORIES:
        percent = evidence.percent(category.name)
        if percent >= category.rule.moderate:
            yield Finding(
                severity_of(percent, category.rule.moderate, category.rule.high),
                category.finding,
                f"{evidence.of_step(f'{category.name}_ms')} {category.spent}.",
                category.fix.format(waits=_WAITS[evidence.overview.summary["framework"]]),
                percent if category.is_saved else float("nan"),
                rule=category.rule.id,
            )
