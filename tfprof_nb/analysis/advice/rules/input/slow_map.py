from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import (
    line_of_stage,
    mapped_by_stage,
    of_keras,
    stage_of,
    stages,
    with_costly_line,
)

_KEEP = (
    "It already works on several elements at once. Where the data is read more than once, keep its results: `.cache()` "
    'after the map, in memory or in a file (`.cache("folder/name")`), and `.shuffle()` after that. For a single '
    "pass, do less in {function}."
)
_THEN_PREFETCH = " End the pipeline with `.prefetch(tf.data.AUTOTUNE)`, so that it works while the step runs."

RULE = cause_rule(
    "slow-map",
    "A map is slow",
    "Looks for the slowest map of a pipeline that works on several elements at once already.",
    "Steps wait for the slowest stage, whatever the others take.",
    after="slow-random-map",
)


def cause(evidence: Evidence) -> Cause | None:
    line, function = line_of_stage(evidence), mapped_by_stage(evidence)
    if not function or of_keras(evidence):
        return None
    fix = str(evidence.tf_data.summary["suggestion"])
    if stage_of(evidence) in ("ParallelMap", "MapAndBatch"):
        fix = _KEEP.format(function=function) + _THEN_PREFETCH * ("Prefetch" not in stages(evidence))
    return Cause(f"{function} is slow", with_costly_line(evidence), fix, place=line)
