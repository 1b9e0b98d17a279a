from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.step_ops.small_ops import cost_of

# The ops that `tf.debugging.enable_check_numerics` and `enable_dump_debug_info` add behind each other op.
_CHECK = "DebugNumericSummaryV2"
_ADDED = (_CHECK, "CheckNumericsV2", "DebugIdentityV2", "DebugIdentityV3")
_ASKED = r"\benable_(?:check_numerics|dump_debug_info)\("
# Ops behind which there is a check are not fused: that costs more than the checks alone.
_SAVED = 0.7, 2.5
_MOST_PERCENT = 85.0

RULE = Rule(
    "numeric-checks",
    "Each op's result is checked for NaN and infinity",
    "Looks for the ops that `tf.debugging.enable_check_numerics` and `enable_dump_debug_info` add.",
    "The checks take time, and ops followed by a check are not fused, which costs more than the checks.",
    action="Remove the checks, which are for debugging",
    page="ops",
    moderate=2.0,
    high=5.0,
    saved=(0.7, 2.5),
    supersedes=("python-between-ops", "dominant-op", "small-steps", "dominant-layer"),
    results="equal",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    if not ops.steps or not (checks := ops.graphs.nodes["op"].eq(_CHECK).to_numpy(bool)).any():
        return
    _, runs = cost_of(ops, checks)
    percent = 100 * cost_of(ops, ops.graphs.nodes["op"].isin(_ADDED).to_numpy(bool))[0]
    place = evidence.code.place_with(_ASKED)
    asks = evidence.code.at(place).partition("#")[0].strip()
    disables = "disable_dump_debug_info" if "dump" in asks else "disable_check_numerics"
    count = _units.count(round(runs))
    most = min(_SAVED[1] * percent, _MOST_PERCENT)
    yield Case(
        percent,
        saved=(_SAVED[0], max(most / percent, _SAVED[0])),
        finding=f"Each op's result is checked for NaN and infinity{at(place)}",
        evidence=f"A step runs {count} checks, which take {_units.percent(percent)} of its time, with the time to "
        "start them. Ops followed by a check also run singly, where TensorFlow would fuse them.",
        fix=f"Remove {f'`{asks}`' if place else 'tf.debugging.enable_check_numerics()'}: it is "
        f"for debugging. Functions that are traced keep their checks: call `tf.debugging.{disables}()` before they "
        "are made, or restart the kernel.",
        place=place,
        change=f"tf.debugging.{disables}()" if place else "",
    )
