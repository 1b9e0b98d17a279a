from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule, in_parallel
from tfprof_nb.analysis.advice.rules.input._stages import (
    is_random,
    line_of_stage,
    mapped_by_stage,
    of_keras,
    shown_stage,
    stage_of,
)

RULE = cause_rule(
    "sequential-map",
    "A map works on one element at a time",
    "Looks for the slowest map of a pipeline, without `num_parallel_calls`.",
    "It uses one core, while others may be free.",
    action="Map several elements at once",
    saved=(0.2, 0.8),
    results="order",
    after="no-prefetch",
)


def cause(evidence: Evidence) -> Cause | None:
    mapped, line = mapped_by_stage(evidence), line_of_stage(evidence)
    change = in_parallel(evidence, line) if mapped and stage_of(evidence) in ("Map", "MapAndBatch") else ""
    if not change or of_keras(evidence):
        return None
    drawing = ", though its random numbers then fall on other elements" * is_random(evidence, line)
    return Cause(
        f"{mapped} works on one element at a time",
        shown_stage(evidence),
        f"Let it work on several at once{drawing}: `num_parallel_calls=tf.data.AUTOTUNE`.",
        change,
        place=line,
    )
