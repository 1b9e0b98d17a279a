"""What to change about categories of step time that cost too much: copies, and devices that exchange data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfprof_nb.analysis.advice.findings import COPIES, Evidence, Finding, severity_of
from tfprof_nb.analysis.verdict import HIGHLY_PERCENT, MODERATELY_PERCENT

# Shares of step time that the guide calls a moderate and a high cost (`op_stats_to_overview_page.cc`).
_OVERHEAD_PERCENT, HIGH_OVERHEAD_PERCENT = 3.0, 15.0
_COPYING_PERCENT, _HIGH_COPYING_PERCENT = 15.0, 40.0
_WAITS = {
    "tensorflow": ".numpy() and print()",
    "jax": "float(), conversions to NumPy and print()",
    "pytorch": ".item(), .cpu() and print()",
}


@dataclass(frozen=True)
class _Category:
    """A category of step time that costs too much from some share on, and how to reduce it."""

    name: str
    moderate_percent: float
    high_percent: float
    finding: str
    spent: str
    fix: str
    is_saved: bool = True


_CATEGORIES = (
    _Category(
        "output",
        MODERATELY_PERCENT,
        HIGHLY_PERCENT,
        "Results are copied from the device in every step",
        "is spent copying results from the device to the host",
        "Fetch losses and metrics every few steps instead of in every step: {waits} copy and wait.",
    ),
    _Category(
        "device_collectives",
        _OVERHEAD_PERCENT,
        HIGH_OVERHEAD_PERCENT,
        "Devices wait for one another",
        "is spent on collective communication",
        "Use larger batches per device for fewer exchanges of gradients, or 16-bit gradients to halve each exchange.",
    ),
    _Category(
        "device_to_device",
        _COPYING_PERCENT,
        _HIGH_COPYING_PERCENT,
        f"{COPIES} for much of each step",
        "is spent on copies between the memories of a device, or between devices",
        "Look at the longest copies in the trace: which arrays they move, and whether each step needs them.",
        is_saved=False,
    ),
)


def category_findings(evidence: Evidence) -> Iterator[Finding]:
    """Report each category that takes too much of the step."""
    for category in _CATEGORIES:
        percent = evidence.percent(category.name)
        if percent >= category.moderate_percent:
            yield Finding(
                severity_of(percent, category.moderate_percent, category.high_percent),
                category.finding,
                f"{evidence.of_step(f'{category.name}_ms')} {category.spent}.",
                category.fix.format(waits=_WAITS[evidence.overview.summary["framework"]]),
                percent if category.is_saved else float("nan"),
            )
