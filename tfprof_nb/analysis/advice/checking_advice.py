"""What to change where the result of each op is checked for NaN and infinity."""

from __future__ import annotations

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import BETWEEN_OPS, ONE_LAYER, ONE_OP, SMALL_STEPS, Evidence, Finding, saving

# The ops that `tf.debugging.enable_check_numerics` and `enable_dump_debug_info` add behind each other op.
_CHECK = "DebugNumericSummaryV2"
_ASKED = r"\benable_(?:check_numerics|dump_debug_info)\("
_FEW, _WORTH_SAYING = 2.0, (0.0, 5.0)
# Ops behind which there is a check are not fused, and each check has to be started: it costs more than its own time.
_SAVED = 0.7, 4.0
_MOST_PERCENT = 85.0


def checking_findings(evidence: Evidence) -> list[Finding]:
    """Report that checks were left on, which cost more than they take themselves."""
    ops, steps_ms = evidence.ops.table, float(evidence.steps.measured["step_ms"].sum())
    own = ops[ops["op_type"] == _CHECK]
    percent = 100 * float(own["self_us"].sum()) / _units.US_PER_MS / max(steps_ms, 1e-9)
    if percent < _FEW:
        return []
    place = evidence.code.place_with(_ASKED)
    asks = evidence.code.at(place).partition("#")[0].strip()
    disables = "disable_dump_debug_info" if "dump" in asks else "disable_check_numerics"
    count = _units.count(round(float(own["occurrences"].sum()) / max(len(evidence.steps.table), 1)))
    most = min(_SAVED[1] * percent, _MOST_PERCENT)
    return [
        saving(
            percent,
            _WORTH_SAYING,
            (_SAVED[0], max(most / percent, _SAVED[0])),
            finding=f"Each op's result is checked for NaN and infinity{place and f' ({place})'}",
            evidence=f"A step runs {count} checks, which take {_units.percent(percent)} of its time themselves. Ops "
            "with a check behind them also run one by one, where TensorFlow would fuse them.",
            fix=f"Remove {f'`{asks}`' if place else 'tf.debugging.enable_check_numerics()'}: it is "
            f"for debugging. Functions that are traced keep their checks: call `tf.debugging.{disables}()` before they "
            "are made, or restart the kernel.",
            place=place,
            change=f"tf.debugging.{disables}()" if place else "",
            instead_of=(BETWEEN_OPS, ONE_OP, SMALL_STEPS, *ONE_LAYER),
        )
    ]
