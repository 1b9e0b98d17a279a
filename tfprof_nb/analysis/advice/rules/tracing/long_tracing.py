from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.tracing._retracing import SAY_WHY, long_tracing

_LONG_MS = 3000.0
_HIDDEN = "It happens once per function, and again for each model, so it matters less the longer each one trains."

RULE = Rule(
    "long-tracing",
    "The cell traces for longer than it computes",
    "Looks for cells that spend half of their time, and three seconds or more, in steps that trace.",
    _HIDDEN,
    of="cell",
    after=(*SAY_WHY, "unrolled-layer", "loop-over-slices", "unrolled-loop"),
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    tracing = long_tracing(evidence)
    if tracing and tracing.time_ms >= _LONG_MS and not any(earlier.values()):
        yield Case(
            tracing.percent,
            f"Steps that trace take {_units.percent(tracing.percent)} of the cell's time",
            f"{tracing.in_words} TensorFlow traces functions and builds their graphs.",
            _HIDDEN,
            severity="info",
        )
