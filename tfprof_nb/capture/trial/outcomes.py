"""What a run of a cell made: the losses of its steps, the weights of its models, and the values that it assigned."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from tfprof_nb.capture.trial.cell import LAST_VALUE
from tfprof_nb.capture.trial.steps import Steps

_MAX_DEPTH, _MAX_LEAVES, _MAX_BYTES = 4, 10_000, 64 << 20
Values = dict[str, list[Any]]


def outcomes(steps: Steps, namespace: Mapping[str, Any], names: Iterable[str], before: Mapping[str, Any]) -> Values:
    """Return what a run made, as lists of arrays and plain values by what it is.

    Parameters
    ----------
    before
        The names as they were: large arrays that are the same are not copied.
    """
    made: Values = {}
    for number, logs in steps.logs.items():
        for name, value in logs.items():
            made[f"step {number}: {name}"] = [_number(value)]
    for number, logs in enumerate(steps.epochs, 1):
        for name, value in logs.items():
            made[f"epoch {number}: {name}"] = [_number(value)]
    for name in sorted(names):
        if name.startswith("_") and name != LAST_VALUE:
            continue
        value = namespace.get(name)
        if value is before.get(name) and getattr(value, "nbytes", 0) > _MAX_BYTES:
            continue
        label, leaves = _of(name, value)
        if leaves is not None:
            made[label] = leaves
    return made


def _of(name: str, value: Any) -> tuple[str, list[Any] | None]:
    kinds = {kind.__name__ for kind in type(value).__mro__ if kind.__module__.startswith(("keras.", "tensorflow."))}
    told = "the last line" if name == LAST_VALUE else f"`{name}`"
    if kinds & {"Trainer", "Layer", "Module"}:
        with suppress(Exception):  # a model without weights
            return f"weights of {told}", [each.numpy() for each in value.variables if _is_weight(each)]
        return told, None
    if "History" in kinds:
        return told, _leaves(value.history, 0)
    leaves = _leaves(value, 0)
    return told, leaves if leaves is not None and len(leaves) <= _MAX_LEAVES else None


def _is_weight(variable: Any) -> bool:
    return "seed_generator" not in getattr(variable, "path", getattr(variable, "name", ""))


def _number(value: Any) -> Any:
    with suppress(Exception):  # what Keras tells may be anything
        return np.asarray(value)
    return None


def _leaves(value: Any, depth: int) -> list[Any] | None:
    """Return the arrays and plain values in a value; None if it holds anything else."""
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return [value]
    if isinstance(value, np.ndarray):
        return [value.copy()] if not value.dtype.hasobject else None
    if hasattr(type(value), "numpy") and hasattr(type(value), "dtype"):
        with suppress(Exception):  # symbolic
            return [np.array(value.numpy())]
        return None
    if hasattr(type(value), "to_numpy") and hasattr(type(value), "index"):
        return [np.array(value.to_numpy())]
    if depth < _MAX_DEPTH and isinstance(value, dict):
        return _all([*map(str, value)], list(value.values()), depth)
    if depth < _MAX_DEPTH and isinstance(value, list | tuple) and len(value) <= _MAX_LEAVES:
        return _all([], list(value), depth)
    return None


def _all(keys: list[str], values: list[Any], depth: int) -> list[Any] | None:
    found: list[Any] = [*keys, len(values)]
    for each in values:
        leaves = _leaves(each, depth + 1)
        if leaves is None:
            return None
        found += leaves
        if len(found) > _MAX_LEAVES:
            return None
    return found
