"""Many captures in one process: nothing grows."""

import gc
import threading
import time

import keras
import psutil
import pytest
from keras.src.backend.tensorflow.trainer import TensorFlowTrainer
from keras.src.callbacks.callback_list import CallbackList
from keras.src.trainers.epoch_iterator import EpochIterator
from tensorflow.python.data.ops.structured_function import StructuredFunctionWrapper
from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction
from tensorflow.python.profiler.internal import _pywrap_profiler

import tfprof_nb as tp
from tfprof_nb.capture.tensorflow import trace_class

MAX_GROWTH_BYTES = 50_000  # of each capture, whose profile is larger


def changeable():
    """Everything that a capture changes while it runs."""
    keras_owners = (CallbackList, TensorFlowTrainer, EpochIterator)
    owners = (*keras_owners, AtomicFunction, StructuredFunctionWrapper, trace_class(), _pywrap_profiler)
    return {owner: dict(vars(owner)) for owner in owners}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_nothing_changed(tmp_path, model, data, error):
    def fail(batch, logs):
        raise error

    before, failing = changeable(), keras.callbacks.LambdaCallback(on_train_batch_end=fail)
    with pytest.raises(error), tp.profile(logdir=tmp_path, steps=5, metrics=True):
        model().fit(data, verbose=0, callbacks=[failing])
    assert changeable() == before


@pytest.mark.parametrize("captures", [10, pytest.param(200, marks=[pytest.mark.nightly, pytest.mark.timeout(1800)])])
def test_captures_leave_nothing_behind(tmp_path, model, data, captures):
    process, fitted = psutil.Process(), model()

    def capture(number):
        bounds = {"warmup": 1, "steps": 2} if number % 2 else {}
        with tp.profile(logdir=tmp_path, metrics=True, **bounds):
            fitted.fit(data.take(5), verbose=0)

    def threads_and_files():
        gc.collect()
        return threading.active_count(), process.num_fds()

    before = changeable()
    for number in range(5):  # what is made once
        capture(number)
    settled, memory = threads_and_files(), process.memory_info().rss
    for number in range(captures):
        capture(number)
    until = time.monotonic() + 30  # a thread that saved ends a moment after it has
    while any(now > then for now, then in zip(threads_and_files(), settled, strict=True)):
        assert time.monotonic() < until, (threads_and_files(), settled)
    assert changeable() == before
    if captures > 100:
        assert (process.memory_info().rss - memory) / captures < MAX_GROWTH_BYTES
