"""Compare what a program leaves behind, before and after a change, in the way that the change's rule claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

_MOST, _DEEP = 1000, 3  # numbers of one name, containers in one another
_CLOSE = {"rtol": 1e-3, "atol": 1e-5}
Left = dict[str, tuple[list[int], list[float]]]
"""By the name of what holds numbers: their shape, and the first of them."""


def left_by(namespace: Mapping[str, Any]) -> Left:
    """Return the numbers that a program leaves in its names: arrays, tensors, weights, histories, lists of numbers."""
    return {
        key: ([*array.shape], [float(one) for one in array.ravel()[:_MOST]])
        for name, value in list(namespace.items())
        if not name.startswith("_") and name not in ("In", "Out")
        for key, array in _arrays(name, value, _DEEP)
    }


def _arrays(name: str, value: Any, deep: int) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    if isinstance(value, type | ModuleType):
        return
    if hasattr(value, "get_weights"):
        yield from ((f"{name} {k}", np.asarray(one)) for k, one in enumerate(value.get_weights()))
    elif hasattr(value, "history") and isinstance(value.history, dict):
        yield from _arrays(name, value.history, deep)
    elif isinstance(value, dict) and deep:
        for key, one in value.items():
            yield from _arrays(f"{name}[{key!r}]", one, deep - 1)
    elif isinstance(value, bool | int | float | np.ndarray | np.generic) or hasattr(value, "numpy"):
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        if array.dtype.kind in "biuf":
            yield name, array
    elif isinstance(value, list | tuple) and deep and len(value) <= _MOST:
        for k, one in enumerate(value):
            yield from _arrays(f"{name}[{k}]", one, deep - 1)


def differing(before: Left, again: Left, after: Left, claim: str) -> list[str]:
    """Return the names whose numbers differ after a change, other than its rule claims.

    Parameters
    ----------
    before, again
        What two runs without the change leave: what differs there tells nothing.
    after
        What a run with the change leaves.
    claim
        What the change does to results (`tfprof_nb.analysis.advice.rule.Rule.results`).

    Examples
    --------
    >>> one, two = {"w": ([2], [1.0, 2.0]), "t": ([], [0.1])}, {"w": ([2], [1.0, 2.0]), "t": ([], [0.2])}
    >>> differing(one, two, {"w": ([2], [1.0, 2.1])}, "close"), differing(one, two, {"w": ([2], [2.0, 1.0])}, "order")
    (['w'], [])
    """
    steady = [name for name, numbers in before.items() if again.get(name) == numbers and name in after]
    return [name for name in steady if not _agrees(before[name], after[name], claim)]


def _agrees(before: tuple[list[int], list[float]], after: tuple[list[int], list[float]], claim: str) -> bool:
    if claim == "equal":
        return before == after
    same_shape = before[0] == after[0]
    if claim == "close":
        return same_shape and np.allclose(before[1], after[1], equal_nan=True, **_CLOSE)
    # In another order, or trained otherwise, numbers differ; what was a number is still one.
    return claim == "rows" or (same_shape and bool(np.all(np.isfinite(after[1]) >= np.isfinite(before[1]))))
