"""A Keras callback that marks steps for profilers other than ours. Importing this module imports Keras."""

import itertools
from collections import defaultdict
from collections.abc import Iterator
from functools import partialmethod
from typing import Any

from tfprof_nb._errors import MissingDependencyError
from tfprof_nb.capture.keras import marks_steps
from tfprof_nb.capture.marks import Mark
from tfprof_nb.formats.marks import END_OF_DATA, EPOCH, INTERRUPTED

try:
    import keras
except ModuleNotFoundError as error:
    raise MissingDependencyError('StepMarker needs Keras: pip install "tfprof_nb[tensorflow]".') from error


class StepMarker(keras.callbacks.Callback):  # type: ignore[misc]
    """Mark the steps of ``fit``, ``evaluate`` and ``predict`` in a profile that another tool captures.

    Keras 3 does not mark its steps, so a profile made with ``tf.profiler.experimental``, with the ``TensorBoard``
    callback or through a profiler server shows none. Put this callback first in the list, so that a step includes the
    other callbacks. It does nothing while ``%%tfprofile`` or ``tfprof_nb.profile`` captures: they mark the steps.

    Examples
    --------
    >>> import numpy as np, keras
    >>> model = keras.Sequential([keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> _ = model.fit(np.zeros((4, 2)), np.zeros((4, 1)), verbose=0, callbacks=[StepMarker()])
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts = defaultdict[str, Iterator[int]](itertools.count)
        self._epoch: dict[str, int] = {}
        self._mark: Mark | None = None

    def _begin(self, phase: str, *_: Any, **__: Any) -> None:
        self._close(INTERRUPTED)
        if not marks_steps():
            self._mark = Mark.of_step(phase, next(self._counts[phase]), **self._epoch)

    def _end(self, *_: Any, **__: Any) -> None:
        self._close()

    def _out_of_data(self, *_: Any, **__: Any) -> None:
        """Close the step that is still open here: it asked for a batch when there were no more."""
        self._close(END_OF_DATA)

    def _close(self, why: str = "") -> None:
        if self._mark is not None:
            self._mark.close(why)
            self._mark = None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002, D102  (Keras calls it)
        self._epoch = {EPOCH: epoch}

    on_train_batch_begin = partialmethod(_begin, "train")
    on_test_batch_begin = partialmethod(_begin, "test")
    on_predict_batch_begin = partialmethod(_begin, "predict")
    on_train_batch_end = on_test_batch_end = on_predict_batch_end = _end
    on_test_begin = on_epoch_end = on_train_end = on_test_end = on_predict_end = _out_of_data
