import math

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.rewriting import with_argument
from tfprof_nb.analysis.step_ops.recurrent import recurrent_loops

_MIN_COUNT = 200
# XLA saved 25% to 50% of steps whose matrix products took 4 to 10 µs (16 or 32 units), 0% to 17% at 19 µs (64 units),
# and added a fifth at 39 µs (128 units).
_SMALL_PRODUCT_US = 15.0
_LEAST_SAVED = 0.25
_COMPILING_MS = 10_000  # and the same again for the smaller last batch
_NAMED = 3

RULE = Rule(
    "small-recurrent-ops",
    "Recurrent layers run many small ops",
    "Looks for LSTM, GRU and RNN layers on a CPU whose loops over time run 200 ops or more in a step, with matrix "
    "products of 15 µs at most.",
    "XLA compiles the loop to one program, which starts no ops. That saves a quarter to a half of a step with layers "
    "of 16 or 32 units; its matrix products are slower, so it saves little with 64 and costs time with 128. Compiling "
    "takes seconds once, so it pays for training that takes minutes.",
    action="Let XLA compile the step",
    page="source",
    moderate=40.0,
    saved=(0.25, 0.6),
    supersedes=("many-small-ops", "dominant-op", "dominant-layer"),
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    if not ops.steps or ops.on_device or not evidence.is_tensorflows:
        return
    loops = ops.once(recurrent_loops)
    percent = 100 * loops.cost_share
    if loops.per_step < _MIN_COUNT or loops.product_us > _SMALL_PRODUCT_US:
        return
    file, line, change = _compiled(evidence, ops.place(loops.frame))
    asked = "jit_compile=True in model.compile" if file else "jit_compile=True in the tf.function of the step"
    named = [name.rpartition("/")[2] for name in loops.layers]
    more = len(named) - _NAMED + 1
    names = ", ".join(named if more <= 1 else [*named[: _NAMED - 1], f"and {more} more"])
    pays = _LEAST_SAVED * loops.cost_share * float(evidence.steps.table["step_ms"].sum()) > _COMPILING_MS
    yield Case(
        percent,
        f"Recurrent layers run many small ops: {names}",
        f"Their loops over time run about {_units.count(round(loops.per_step, -1))} ops per step, of "
        f"{_units.microseconds(loops.mean_us)} on average. With the time to start them, they take "
        f"{_units.percent(percent)} of each step.",
        f"For training that takes minutes, let XLA compile the step to one program, with {asked}. Compiling "
        "takes some seconds in the first step, and again for each other size of a batch.",
        place_of(file, line) if file else "",
        change,
        severity="medium" if pays else "info",
        gain=None if pays else (math.nan, math.nan, math.nan),
    )


def _compiled(evidence: Evidence, layer: str) -> tuple[str, int, str]:
    """Return file and line of the call that compiles the model of a layer, and that call with XLA; empty if unknown."""
    found = list(evidence.code.find(r"\.compile\("))
    file, line = line_at(layer)
    behind = [one for one in found if one[0] == file and one[1] >= line] or (found if len(found) == 1 else [])
    if not behind:
        return "", 0, ""
    at = min(behind)
    call = evidence.code.call_at(*at, "compile")
    asked = call is not None and any(keyword.arg in ("jit_compile", "run_eagerly", None) for keyword in call.keywords)
    return *at, "" if asked else with_argument(evidence.code, *at, "compile", "jit_compile=True")
