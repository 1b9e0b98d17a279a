"""How long a cell traces."""

from typing import NamedTuple

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.tracing._retracing import MOSTLY_TRACING

UNROLL = r"\bunroll *= *True"
_LONG_MS = 1000.0


class Tracing(NamedTuple):
    """How long a cell traces, and how long it runs."""

    time_ms: float
    whole_ms: float

    @property
    def percent(self) -> float:
        """The share of the cell's time."""
        return 100 * self.time_ms / self.whole_ms

    @property
    def in_words(self) -> str:
        """The beginning of a sentence that says so."""
        return (
            f"{_units.milliseconds(self.time_ms)} of {_units.milliseconds(self.whole_ms)} is in warm-up steps, in which"
        )


def long_tracing(evidence: Evidence) -> Tracing | None:
    """Return how long a cell traces that does so for longer than it computes; None for others."""
    summary = evidence.overview.summary
    tracing = Tracing(float(summary["warm_up_steps_ms"]), float(summary["capture_ms"]))
    long = tracing.time_ms >= _LONG_MS and tracing.time_ms >= MOSTLY_TRACING * tracing.whole_ms
    return tracing if long else None
