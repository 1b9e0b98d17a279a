"""A generator in Python that makes the data."""

from __future__ import annotations

import re

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
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
_BATCHING = re.compile(r"::(ParallelBatch|Batch(V2)?|PaddedBatch(V2)?|MapAndBatch)(::|$)")

RULE = cause_rule(
    "slow-generator",
    "A generator in Python makes the data",
    "Looks for generators, as of `from_generator`, that steps wait for.",
    "One generator runs on one core, and hands over its elements one by one.",
    after="python-map",
)


def cause(evidence: Evidence) -> Cause | None:
    """Name the generator that steps wait for."""
    source = python_source(evidence)
    return source and Cause(source.name, source.shown, _generating(evidence), place=source.place)


def _generating(evidence: Evidence) -> str:
    """Say how to make data faster that a generator yields, depending on whether it yields batches."""
    names = evidence.tf_data.table["long_name"].astype(str)
    generators = [name for name in names if iterator_type(name) == "Generator"]
    batched = any(_BATCHING.search(name.rpartition("::")[0]) for name in generators)
    return _GENERATE_BATCHES if batched or not generators else _GENERATE_IN_WORKERS
