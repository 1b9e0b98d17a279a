"""Copies of a pipeline for one purpose each: for times of later passes, or to compare the first elements."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from tfprof_nb.capture.benchmark_input.pipelines import Pipeline
from tfprof_nb.capture.benchmark_input.stages import SMALL_BUFFER, Stage, with_small_buffer
from tfprof_nb.capture.benchmark_input.what_ifs import WhatIf
from tfprof_nb.capture.tensorflow import tensorflow

_MOST_BATCHES = 1000
BATCHES = 3
_RELATIVE, _ABSOLUTE = 1e-5, 1e-6  # vectorised functions round differently


@dataclass(frozen=True)
class Copies:
    """Makes copies.

    Attributes
    ----------
    pipeline
        What is copied.
    per_batch
        For the source and each stage, how many of its elements a batch takes.
    fill
        With how many batches caches are filled.
    """

    pipeline: Pipeline
    per_batch: Sequence[float]
    fill: int

    def each(self, stages: Sequence[Stage]) -> Iterator[Any]:
        """Yield the source, and what each stage makes of it, with caches filled."""
        yield from self._made(stages, min(self.fill, _MOST_BATCHES))

    def whole(self, stages: Sequence[Stage]) -> Any:
        """Return what all stages make, with caches filled."""
        return _last(self.each(stages))

    def small(self, stages: Sequence[Stage]) -> Any:
        """Return a copy that is enough to look at the first batches."""
        return _last(self._made([with_small_buffer(stage) for stage in stages], BATCHES + SMALL_BUFFER + 1))

    def cached_bytes(self, change: WhatIf) -> float:
        """Return how much memory a cache of all elements takes; NaN if it is unknown how many there are."""
        (at,) = change.changed
        below = self.pipeline.build(change.stages[:at])
        count = int(below.cardinality().numpy())
        flat = tensorflow().nest.flatten
        sizes = [
            sum(_bytes(one) for one in flat(element, expand_composites=True)) for element in below.take(SMALL_BUFFER)
        ]
        return count * float(np.mean(sizes)) if count >= 0 and sizes else float("nan")

    def _made(self, stages: Sequence[Stage], fill: int) -> Iterator[Any]:
        made = self.pipeline.source.build(None)
        yield made
        for k, stage in enumerate(stages):
            made = _filled(made, round(fill * self.per_batch[k])) if stage.kind == "cache" else stage.build(made)
            yield made


def _filled(below: Any, count: int) -> Any:
    """Return a cache that holds a part of the data and repeats it: that is what later passes read."""
    cached, held = below.take(max(1, count)).cache(), 0
    try:
        for _ in cached:
            held += 1
    except Exception:
        if not held:
            raise
        return _filled(below, held)  # with what comes before the element that fails
    return cached.repeat()


def _last(made: Iterator[Any]) -> Any:
    *_, last = made
    return last


def _bytes(tensor: Any) -> int:
    if tensor.dtype.name == "string":
        return sum(map(len, np.ravel(tensor.numpy())))
    return int(np.prod(tensor.shape)) * int(tensor.dtype.size)


def first_batches(dataset: Any, count: int = BATCHES) -> list[list[Any]]:
    """Return the first few batches, each as a flat list of arrays."""
    flat = tensorflow().nest.flatten
    return [[_array(one) for one in flat(batch, expand_composites=True)] for batch in islice(dataset, count)]


def difference(one: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> str:
    """Say in which way batches differ; empty if they do not."""
    if [len(batch) for batch in one] != [len(batch) for batch in other]:
        return "it makes other batches"
    pairs = [pair for batches in zip(one, other, strict=True) for pair in zip(*batches, strict=True)]
    for before, after in pairs:
        if before.dtype != after.dtype or before.shape != after.shape:
            return f"it makes {after.dtype}{list(after.shape)} in place of {before.dtype}{list(before.shape)}"
    return "" if all(_equal(*pair) for pair in pairs) else "its elements have other values"


def _array(tensor: Any) -> Any:
    return np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)


def _equal(one: Any, other: Any) -> bool:
    if np.issubdtype(one.dtype, np.inexact):
        return bool(np.allclose(one, other, _RELATIVE, _ABSOLUTE, equal_nan=True))
    return bool(np.array_equal(one, other))
