"""What to change: ``advice.advice`` applies every rule, and orders what they find.

Here is what modules of rules use: what they are given, what they declare and yield, and how they name places and code.
"""

from tfprof_nb.analysis.advice.evidence import Evidence, training_ms, trainings
from tfprof_nb.analysis.advice.findings import at, in_code, quoted
from tfprof_nb.analysis.advice.rule import (
    IN_TENSORFLOW,
    TRACING_MS,
    UNKNOWN,
    VECTORISING_MS,
    Case,
    Cases,
    ChangesResults,
    Earlier,
    Finding,
    Order,
    Rule,
    Severity,
)

__all__ = [
    "IN_TENSORFLOW",
    "TRACING_MS",
    "UNKNOWN",
    "VECTORISING_MS",
    "Case",
    "Cases",
    "ChangesResults",
    "Earlier",
    "Evidence",
    "Finding",
    "Order",
    "Rule",
    "Severity",
    "at",
    "in_code",
    "quoted",
    "training_ms",
    "trainings",
]
