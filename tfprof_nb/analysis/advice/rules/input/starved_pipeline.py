from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import stage_of

_QUICK_SHARE = 0.3

RULE = cause_rule(
    "starved-pipeline",
    "The pipeline's stages are quick, but seem to get no core",
    "Looks for pipelines whose stages work for much less than their caller waits.",
    "Other programs, or more threads than cores, take the processors: the pipeline needs no change.",
    action="Look for what keeps the cores busy",
    saved=(0.0, 1.0),
    after="shuffle-after-map",
    order="vague",
)


def cause(evidence: Evidence) -> Cause | None:
    if stage_of(evidence) != "Prefetch":
        return None
    slow, table = str(evidence.tf_data.summary["bottleneck_long_name"]), evidence.tf_data.table
    below_ms = float(table.loc[table["long_name"].str.startswith(f"{slow}::"), "self_ms"].sum())
    waited_ms = float(evidence.tf_data.summary["bottleneck_ms"])
    if not 0 < below_ms < _QUICK_SHARE * waited_ms:
        return None
    return Cause(
        "its stages are quick, but seem to get no core",
        f"in a typical slow call the stages before the prefetch work for {_units.milliseconds(below_ms)}, and the "
        f"caller waits {_units.milliseconds(waited_ms)}",
        "Look for what keeps the cores busy: other programs, other kernels, or more threads than cores "
        "(tf.config.threading). The pipeline itself needs no change.",
        severity="medium",
    )
