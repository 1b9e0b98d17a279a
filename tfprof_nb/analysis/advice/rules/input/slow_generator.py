import re

from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule, waits, without_cores
from tfprof_nb.analysis.advice.rules.input._python import python_source
from tfprof_nb.analysis.tf_data.iterators import iterator_type

_GENERATE_BATCHES = (
    "Yield whole batches from the generator, made by NumPy in one call each, and drop .batch(); or move the work to "
    "`.map(f, num_parallel_calls=tf.data.AUTOTUNE)` with TensorFlow ops."
)
_GENERATE_IN_WORKERS = (
    "Let several workers make batches: write a keras.utils.PyDataset whose `__getitem__` makes one batch, and pass "
    "`workers=4` (with `use_multiprocessing=True` if Python computes, without if it waits for a disk or network)."
)
_GENERATE_CHEAPER = (
    "Make each batch with few calls of NumPy, or move the work to `.map(f, num_parallel_calls=tf.data.AUTOTUNE)` with "
    "TensorFlow ops. Worker processes are no help here: this machine has {} for them and the training."
)
_BATCHING = re.compile(r"::(ParallelBatch|Batch(V2)?|PaddedBatch(V2)?|MapAndBatch)(::|$)")

RULE = cause_rule(
    "slow-generator",
    "A generator in Python makes the data",
    "Looks for generators, as of `from_generator`, that steps wait for.",
    "One generator runs on one core, and hands over one element at a time.",
    after="python-map",
)


def cause(evidence: Evidence) -> Cause | None:
    source = python_source(evidence)
    return source and Cause(
        source.name,
        source.shown,
        _generating(evidence, evidence.code.line(source.file, source.line)),
        place=source.place,
    )


def _generating(evidence: Evidence, code: str) -> str:
    """Say how to make data faster that a generator yields, depending on whether it yields batches, and computes."""
    names = evidence.tf_data.table["long_name"].astype(str)
    generators = [name for name in names if iterator_type(name) == "Generator"]
    batched = any(_BATCHING.search(name.rpartition("::")[0]) for name in generators)
    if batched or not generators:
        return _GENERATE_BATCHES
    few = "" if waits(code) else without_cores(evidence)
    return _GENERATE_CHEAPER.format(few) if few else _GENERATE_IN_WORKERS
