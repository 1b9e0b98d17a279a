from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._python import python_source
from tfprof_nb.analysis.source.calls import read_anew

_READ_ONCE = (
    "`{0}` reads and decompresses the whole array each time. Read each file once, and take its rows from there: "
    "loop over the files, load an array into a variable, and yield its rows or batches."
)

RULE = cause_rule(
    "npz-read-per-element",
    "An .npz file is read again for each element",
    "Looks for functions of a pipeline that take an array from an .npz file for each element.",
    "NumPy reads and decompresses the whole array each time.",
    action="Read the array once",
    saved=(0.5, 1.0),
    after="dataset-rebuilt",
)


def cause(evidence: Evidence) -> Cause | None:
    source = python_source(evidence)
    archive = read_anew(evidence.code, source.file, source.line) if source and source.is_met else ""
    if not source or not archive:
        return None
    name = f"{source.reader} reads an .npz file again for each element"
    return Cause(name, source.shown, _READ_ONCE.format(archive), place=source.place)
