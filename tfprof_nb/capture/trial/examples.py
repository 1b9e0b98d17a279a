"""The examples that Keras trains on in a run, as one number each: whether passes repeat, and in which order."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import numpy as np

from tfprof_nb._arrays import Floats
from tfprof_nb.capture.patching import hooked
from tfprof_nb.capture.tensorflow import tensorflow

_MAX_BATCHES = 20_000
Passes = list[list[Floats]]


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
