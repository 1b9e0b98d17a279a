from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._stages import line_of_stage, of_keras, shown_stage
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.syntax import first_given

_SLICE_LESS = (
    "Make the pipeline yourself, and let it run ahead: `tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x))"
    ".batch(n).prefetch(tf.data.AUTOTUNE)`. It has the same batches as those of {0}, in another order."
)
_SLICE_IN_ORDER = (
    "Where no call needs the result of another, call {0} once, with all examples in one array and a larger "
    "`batch_size=`: each call starts a pipeline of its own, and neither changes a result."
)
_FEW_BATCHES = 2  # in an epoch: starting each pass over the data then costs more than slicing
_NO_ARRAYS = {"dataset", "generator", "iterator", "keras dataset"}

RULE = cause_rule(
    "arrays-sliced-by-keras",
    "Slicing the arrays is slow",
    "Looks for pipelines that Keras makes of arrays, where it is their slicing that steps wait for.",
    "That pipeline does not run ahead of the model as one of the program's own does.",
    action="Make the pipeline yourself",
    after="starved-pipeline",
)


def cause(evidence: Evidence) -> Cause | None:
    method, line, shown = of_keras(evidence), line_of_stage(evidence), shown_stage(evidence)
    if not method:
        return None
    data = first_given(evidence.code.call_at(*line_at(line), method))
    known = evidence.code.object_of(line_at(line)[0], data) if data else None
    batches = evidence.steps.table.groupby("epoch").size()
    if (known and known.kind in _NO_ARRAYS) or (len(batches) and batches.median() <= _FEW_BATCHES):
        return None
    fix = (_SLICE_LESS if method == "fit" else _SLICE_IN_ORDER).format(method)
    return Cause("slicing the arrays is slow", shown, fix, place=line)
