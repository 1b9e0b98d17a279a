"""What rules on tracing share: the functions that are traced again, and why; how long a cell traces."""

from typing import NamedTuple

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.tracing._remedies import is_programs, remedy, shown_name
from tfprof_nb.analysis.functions.retracing import APPLIED_AGAIN, GENERALISE, OF_KERAS

# Rules that say why functions are traced: what is told of long tracing alone says less.
SAY_WHY = (
    "xla-recompilation",
    "retracing",
    "retracing-by-shape",
    "retracing-by-value",
    "retracing-by-object",
    "function-defined-in-loop",
    "compile-in-loop",
    "model-built-in-loop",
)
LEAST_SAVED = 0.75  # of the time of calls that trace: what they do once they are traced remains
MOSTLY_TRACING = 0.5
_ITERATING = "_on_iterator"
_EXPENSIVE_CALL_PERCENT = 20.0
_MIN_TRACING_CALLS = 3
_SIGNS = {
    GENERALISE: "retracing-by-shape",
    APPLIED_AGAIN: "function-defined-in-loop",
    "new Python value": "retracing-by-value",
    "different object": "retracing-by-object",
}
UNROLL = r"\bunroll *= *True"
_LONG_MS = 1000.0


def retracing_rule(name: str, title: str, what: str, why: str, action: str = "", part_of: str = "retracing") -> Rule:
    """Return the rule on functions that are traced again for one reason."""
    return Rule(
        name,
        title,
        what,
        why,
        action=action,
        page="functions",
        high=15.0,
        saved=(LEAST_SAVED, 1.0),
        part_of=part_of,
        after=("xla-recompilation",),
        results="equal",
    )


def traced_again(evidence: Evidence, earlier: Earlier, rule: str) -> Cases:
    """Name the functions that are traced again and again for a rule's reason, unless XLA already explains it.

    A first call must trace, and Keras traces again when it builds a model: only further tracing is a case.
    """
    if any(earlier.values()):
        return
    calls = evidence.functions.table
    expensive = calls["expensive_call_percent"] >= _EXPENSIVE_CALL_PERCENT
    traced = calls[calls["mode"].str.startswith("traced") & expensive]
    whole_ms = float(evidence.steps.table["step_ms"].sum()) or float(calls["self_ms"].sum())
    for name, function in traced.groupby("function"):
        count, self_ms = int(function["calls"].sum()), float(function["self_ms"].sum())
        if count < _MIN_TRACING_CALLS:
            continue
        why, new_shapes = str(function["cause"].iloc[0]), int(function["new_shapes"].iloc[0])
        its_percent = _units.percent(float(function["expensive_call_percent"].iloc[0]))
        if next((said for sign, said in _SIGNS.items() if sign in why), "retracing") != rule:
            continue
        if name in OF_KERAS and not new_shapes:
            continue
        if not is_programs(evidence.code, str(name)):  # a library's, which nobody can decorate
            continue
        percent = min(100.0, 100 * self_ms / whole_ms)
        cause, colon, advised = why.rpartition(": ")
        fix, place, change = remedy(evidence.code, str(name), why, advised if colon else "")
        # One graph stays to be built; where it is one for all shapes, that of the first shape is built before it, and
        # at worst one for each argument whose shape changes alone.
        graphs = 1 + min(new_shapes, 1), 1 + new_shapes
        spared, at_least = (max(0.0, 1 - number / count) for number in graphs)
        shown = shown_name(evidence.code, str(name))
        called = shown.replace("The lambda", "the lambda")
        yield Case(
            percent,
            f"{shown} is traced again and again",
            f"{count} calls of {called} traced it first, which took {_units.milliseconds(self_ms)} "
            f"({its_percent} of its time){why and ': '}{cause or advised}.",
            fix,
            place,
            change,
            gain=(spared * percent, LEAST_SAVED * at_least * percent, spared * percent),
            # Python that makes the ops of a graph is no eager Python.
            instead_of=(("eager-ops", ""),) if percent >= 100 * MOSTLY_TRACING else (),
        )


def new_functions(evidence: Evidence) -> tuple[int, float]:
    """Return how many functions of one name Keras made and traced, and in which time; 0 if no more than phases need.

    Training and validation use functions of one name, predictions those of another one.
    """
    calls = evidence.functions.table
    iterating = calls["function"].isin(OF_KERAS) & calls["function"].str.endswith(_ITERATING)
    traced = calls[calls["mode"].str.startswith("traced") & iterating & (calls["tracings"] == 1)]
    if traced.empty or traced["calls"].max() <= iterating_phases(evidence):
        return 0, 0.0
    most = traced.nlargest(1, "calls").iloc[0]
    return int(most["calls"]), float(traced["total_ms"].max())


def iterating_phases(evidence: Evidence) -> int:
    """Return the number of phases other than prediction, at least one."""
    phases = evidence.steps.table["phase"]
    return max(int(phases[phases != "predict"].nunique()), 1)


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
