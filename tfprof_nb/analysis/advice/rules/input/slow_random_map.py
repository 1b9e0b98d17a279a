from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import (
    is_random,
    line_of_stage,
    mapped_by_stage,
    of_keras,
    with_costly_line,
)

_RANDOM = (
    "{function} draws random numbers, which a cache would freeze. Cache what comes before it, if that fits in memory, "
    "and do the random part on whole batches: in the model, for example with keras.layers.RandomFlip."
)

RULE = cause_rule(
    "slow-random-map",
    "A map with random numbers is slow",
    "Looks for the slowest map of a pipeline that draws random numbers.",
    "A cache would freeze them. What comes before can be cached, and the random part can work on whole batches.",
    after="slow-file-reads",
)


def cause(evidence: Evidence) -> Cause | None:
    line, function = line_of_stage(evidence), mapped_by_stage(evidence)
    if not function or of_keras(evidence) or not is_random(evidence, line):
        return None
    fix = _RANDOM.format(function=function)
    return Cause(f"{function} is slow", with_costly_line(evidence), fix, place=line)
