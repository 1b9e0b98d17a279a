from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import line_of_stage, of_keras, shown_stage, slow_name, stage_of
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.rewriting import end_of_pipeline, with_call

_UNPREFETCHED = ("Map", "Batch", "PaddedBatch")

RULE = cause_rule(
    "no-prefetch",
    "The pipeline has no prefetch",
    "Looks for pipelines that work only when a step asks for the next batch.",
    "The pipeline and the step then take turns. With `.prefetch()`, the pipeline prepares batches while the step runs.",
    action="End the pipeline with prefetch",
    saved=(0.2, 1.0),
    results="equal",
    after="arrays-sliced-by-keras",
)


def cause(evidence: Evidence) -> Cause | None:
    if of_keras(evidence) or stage_of(evidence) not in _UNPREFETCHED or "Prefetch" in slow_name(evidence):
        return None
    line = line_of_stage(evidence)
    file = line_at(line)[0]
    end, method = end_of_pipeline(evidence.code, *line_at(line))
    change = with_call(evidence.code, file, end, method, ".prefetch(tf.data.AUTOTUNE)")
    return Cause(
        "the pipeline has no prefetch, so it and the step take turns",
        shown_stage(evidence),
        "End the pipeline with `.prefetch(tf.data.AUTOTUNE)`.",
        change,
        place=place_of(file, end) if change else line,
    )
