from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.advice.rules.tracing._retracing import SAY_WHY, long_tracing
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.loops import goes_through_slices
from tfprof_nb.analysis.step_ops.unrolled import unrolled_loop

RULE = Rule(
    "loop-over-slices",
    "A Python loop goes through a tensor slice by slice",
    "Looks for loops of Python that make most of a graph, whose passes read one slice each and need nothing of the "
    "pass before, in cells that trace for longer than they compute.",
    "The loop's body is traced, and then run, once per slice. On the whole tensor it is a few ops.",
    action="Apply each op to the whole tensor",
    of="cell",
    saved=(0.5, None),
    part_of="many-small-ops",
    supersedes=("python-between-ops", "dominant-op", "small-steps"),
    after=(*SAY_WHY, "unrolled-layer"),
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    tracing = long_tracing(evidence)
    loop = unrolled_loop(evidence.step_ops(), evidence.code) if tracing and not any(earlier.values()) else None
    if not tracing or not loop or not goes_through_slices(evidence.code.loop(loop.file, loop.line + 1)):
        return
    place = place_of(loop.file, loop.line)
    yield Case(
        tracing.percent,
        f"Tracing takes {_units.percent(tracing.percent)} of the cell's time: a Python loop goes through slices of a "
        f"tensor ({place})",
        f"{tracing.in_words} TensorFlow traces functions. {quoted(loop.text)} makes {_units.share(loop.share)} of the "
        "graph: its body is traced for each slice, and each step runs all of it.",
        "Apply each op once to the whole tensor, not to one slice after another (`x` in place of `x[:, i]`): no pass "
        "needs the result of another.",
        place,
        severity="high",
    )
