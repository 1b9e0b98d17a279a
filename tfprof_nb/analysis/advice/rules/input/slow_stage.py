from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import (
    line_of_stage,
    of_keras,
    shown_stage,
    stage_of,
    with_costly_line,
)

RULE = cause_rule(
    "slow-stage",
    "A stage of the pipeline is slow",
    "Looks for the slowest stage of a pipeline, where no other rule says more.",
    "Steps wait for the slowest stage, whatever the others take.",
    after="slow-map",
)


def cause(evidence: Evidence) -> Cause | None:
    stage, line = stage_of(evidence), line_of_stage(evidence)
    if not stage or stage == "Prefetch":
        return None
    if of_keras(evidence):
        return Cause("", shown_stage(evidence), place=line)
    return Cause(
        f"{stage} is slow", with_costly_line(evidence), str(evidence.tf_data.summary["suggestion"]), place=line
    )
