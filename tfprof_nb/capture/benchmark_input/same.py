"""Whether two pipelines make the same elements."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from tfprof_nb.capture.tensorflow import tensorflow

BATCHES = 3
_RELATIVE, _ABSOLUTE = 1e-5, 1e-6  # vectorised functions round differently


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
