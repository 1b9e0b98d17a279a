"""What a fix costs once: its graph is built in the first call, for which a short run may be too short."""

from __future__ import annotations

from dataclasses import replace

from tfprof_nb.analysis.advice.findings import Evidence, Finding, training_ms

# To build the graph of a step, and one that is vectorised, as measured of small models.
TRACING_MS, VECTORISING_MS = 1000.0, 2000.0
_ONCE = " Building the graph takes time once, in the first call: a run as short as this may gain nothing."


def with_first_call(evidence: Evidence, finding: Finding, once_ms: float) -> Finding:
    """Return a finding whose fix costs time once: it says so, and may gain nothing, if the run saves no more."""
    whole_ms = training_ms(evidence) or float(evidence.overview.summary["capture_ms"])
    if not finding.gain_low_percent * whole_ms / 100 < once_ms:
        return finding
    return replace(finding, fix=finding.fix + _ONCE, gain_low_percent=0.0)
