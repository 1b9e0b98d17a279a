import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import VECTORISING_MS, Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.source.calls import takes_gradients
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.step_ops.small_ops import small_ops
from tfprof_nb.analysis.step_ops.step_ops import StepOps

_MIN_COUNT = 100
_PER_EXAMPLE = (
    "Each pass of the loop takes gradients of its own, with the same weights. Take them all at once: put the body of "
    "the loop into a function of one example that returns its gradients, and call `tf.vectorized_map(function, "
    "(x, y))` in place of the loop. What it returns has the examples in the first dimension: sum over that."
)

RULE = Rule(
    "many-small-ops",
    "A step runs many small ops",
    "Looks for functions, loops of the graph, or layers of one kind that run 100 ops or more in each step, half of "
    "them within microseconds.",
    "Starting an op takes several microseconds. Vectorised, a few ops do it all at once.",
    action="Vectorise the loop",
    page="source",
    moderate=20.0,
    high=30.0,
    saved=(0.4, 1.0),
    supersedes=("python-between-ops", "dominant-op", "small-steps"),
    after=("loop-over-slices",),
    once_ms=VECTORISING_MS,
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    if any(earlier.values()):
        return
    ops = evidence.step_ops()
    table = small_ops(ops)
    many = table[(table["count"] >= _MIN_COUNT) & (100 * table["cost_share"] >= RULE.moderate)]
    for _, row in many.head(1).iterrows():
        yield _case(evidence, ops, pd.Series(row))


def _case(evidence: Evidence, ops: StepOps, row: pd.Series) -> Case:
    place, percent, code = ops.place(row["frame"]), 100 * row["cost_share"], ops.code(row["frame"])
    fix = _PER_EXAMPLE if takes_gradients(evidence.code, *line_at(place)) else ""
    in_loop = bool(row["in_loop"])
    return Case(
        percent,
        finding=f"Many small ops in each step: {_subject(row, place)}",
        evidence=f"{'They run' if row['kind'] else 'It runs'} about {_units.count(round(row['count'], -1))} ops per "
        f"step{', in a loop' * in_loop}. Half of them take less than {_units.microseconds(row['median_us'])}. With the "
        f"time to start them, they take {_units.percent(percent)} of each step."
        f"{place and f' Most come from {place}: {quoted(code)}.'}",
        fix=fix or _vectorised(row, in_loop=in_loop),
        place=place,
        once_ms=None if fix else 0.0,
    )


def _subject(row: pd.Series, place: str) -> str:
    if row["kind"]:
        return f"{row['layers']} {row['kind']} layers"
    function = str(row["function"]).rpartition(".")[2]
    return function if function.isidentifier() else place


def _vectorised(row: pd.Series, *, in_loop: bool) -> str:
    if row["kind"]:
        return "Use one layer for all of them, on one tensor that holds their inputs side by side."
    if in_loop:
        return (
            "Vectorise what does not need the result of the iteration before: take it out of the loop, as a few ops on "
            "the whole tensor. Sums and averages over time are a tf.cumsum, a tf.einsum or a convolution."
        )
    return (
        "Vectorise what does not need the result of an earlier slice: apply each op once to the whole tensor, not to "
        "one slice after another (x instead of x[:, i])."
    )
