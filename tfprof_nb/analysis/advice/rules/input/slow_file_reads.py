from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import (
    OPENING,
    line_of_stage,
    of_keras,
    stage_of,
    stages,
    with_costly_line,
)
from tfprof_nb.analysis.tf_data.iterators import FILE_READERS

RULE = cause_rule(
    "slow-file-reads",
    "Reading the files is slow",
    "Looks for pipelines whose slowest stage opens files one after another.",
    "A disk or network reads several files at once as fast as one.",
    action="Read several files at once",
    after="sequential-map",
)


def cause(evidence: Evidence) -> Cause | None:
    line, fix = line_of_stage(evidence), str(evidence.tf_data.summary["suggestion"])
    reads = stage_of(evidence) in OPENING and not stages(evidence).isdisjoint(FILE_READERS)
    if not reads or of_keras(evidence):
        return None
    return Cause("reading the files is slow", with_costly_line(evidence), fix, place=line)
