from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.advice.rules.tracing._retracing import SAY_WHY, long_tracing
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.step_ops.unrolled import unrolled_loop

RULE = Rule(
    "unrolled-loop",
    "A Python loop in a tf.function is unrolled",
    "Looks for loops of Python that make most of a graph, in cells that trace for longer than they compute.",
    "The loop's body is traced in each pass. A loop in the graph (`tf.range`, keras.layers.RNN) is traced once.",
    action="Let the graph have a loop",
    of="cell",
    saved=(0.5, None),
    after=(*SAY_WHY, "unrolled-layer", "loop-over-slices"),
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    tracing = long_tracing(evidence)
    loop = unrolled_loop(evidence.step_ops(), evidence.code) if tracing and not any(earlier.values()) else None
    if not tracing or not loop:
        return
    place = place_of(loop.file, loop.line)
    yield Case(
        tracing.percent,
        f"Tracing takes {_units.percent(tracing.percent)} of the cell's time: a Python loop is unrolled ({place})",
        f"{tracing.in_words} TensorFlow traces functions. {quoted(loop.text)} makes {_units.share(loop.share)} of the "
        "graph: its body is traced in each iteration.",
        "Loop in the graph, where the body is traced once: keras.layers.RNN(cell, return_sequences=True) for a cell "
        "that is called for each time step, else `for t in tf.range(n)` with a tf.TensorArray for what it collects.",
        place,
        severity="high",
    )
