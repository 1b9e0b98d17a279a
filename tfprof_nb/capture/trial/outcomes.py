"""What a run of a cell made: the losses of its steps, the weights of its models, and the values that it assigned.

Of the examples that Keras trained on, one number each tells whether passes repeat, and in which order.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import numpy as np

from tfprof_nb._arrays import Floats
from tfprof_nb.capture.patching import hooked
from tfprof_nb.capture.tensorflow import tensorflow
from tfprof_nb.capture.trial.cell import LAST_VALUE
from tfprof_nb.capture.trial.steps import Steps

_MAX_DEPTH, _MAX_LEAVES, _MAX_BYTES = 4, 10_000, 64 << 20
Values = dict[str, list[Any]]
_MAX_BATCHES = 20_000
Passes = list[list[Floats]]


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


@contextmanager
def watched_examples() -> Iterator[Passes]:
    """Collect the examples of each pass through each dataset that Keras iterates, in its order.

    A dataset gets one more stage for that, which lets its elements through.
    """
    watch = _Watch()
    with ExitStack() as undo:
        if "keras" in sys.modules:
            from keras.src.backend.tensorflow.trainer import TFEpochIterator
            from keras.src.callbacks.callback_list import CallbackList

            undo.enter_context(hooked(TFEpochIterator, "__init__", after=watch.iterates))
            undo.enter_context(hooked(CallbackList, "on_epoch_begin", before=watch.begins))
            undo.enter_context(hooked(CallbackList, "on_epoch_end", before=watch.ends))
        yield watch.passes


class _Watch:
    def __init__(self) -> None:
        self.passes: Passes = []
        self._open = defaultdict[int, list[Any]](list)
        self._count = 0

    def iterates(self, iterator: Any, *_: Any, **__: Any) -> None:
        """Let an epoch iterator take its batches through a stage that tells their examples."""
        with suppress(Exception):  # of datasets that are not of tf.data, or of several devices
            iterator._distributed_dataset = self._telling(iterator._distributed_dataset)  # noqa: SLF001

    def begins(self, *_: Any, **__: Any) -> None:
        """Forget what came before an epoch: Keras looks at a batch to build a model."""
        self._open.clear()

    def ends(self, *_: Any, **__: Any) -> None:
        """Keep what an epoch had."""
        for number, batches in sorted(self._open.items()):
            while len(self.passes) <= number:
                self.passes.append([])
            self.passes[number].append(np.concatenate(batches))
        self._open.clear()

    def _telling(self, dataset: Any) -> Any:
        tf, number = tensorflow(), self._count
        parts = tf.nest.flatten(dataset.element_spec)
        if not all(isinstance(each, tf.TensorSpec) and each.shape.rank for each in parts):
            return dataset
        self._count += 1

        def record(*told: Any) -> Any:
            if len(self._open[number]) < _MAX_BATCHES:
                one_batch = len({len(part) for part in told}) == 1  # of zipped datasets, each part has its own
                self._open[number].append(np.sum(told, 0) if one_batch else np.concatenate(told))
            return np.int32(0)

        def tell(*element: Any) -> Any:
            told = [_example_numbers(part) for part in tf.nest.flatten(element)]
            with tf.control_dependencies([tf.numpy_function(record, told, tf.int32, stateful=True)]):
                passed = tf.nest.map_structure(tf.identity, element)
            return passed if len(passed) > 1 else passed[0]

        return dataset.map(tell)


def _example_numbers(part: Any) -> Any:
    """Return a number for each example: the sum of its values, each with a weight of its place."""
    tf = tensorflow()
    if part.dtype == tf.string:
        part = tf.strings.to_hash_bucket_fast(part, 1 << 20)
    rows = tf.reshape(tf.cast(part, tf.float64), [tf.shape(part)[0], -1])
    weights = tf.cos(tf.range(tf.cast(tf.shape(rows)[1], tf.float64), dtype=tf.float64))
    return tf.linalg.matvec(rows, weights)
