"""Programs and their rewrites, profiled: what was changed is told. `benchmarks.rewrites` measures the gains."""

import time
from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfprof_nb as tp

EXAMPLES, BATCH = 256, 8


@pytest.fixture
def captured(tmp_path):
    """Return a function that runs a program twice, to warm it up, then captures it."""

    def capture(program):
        program()
        with tp.profile("made", logdir=tmp_path) as p:
            program()
        return p

    return capture


def fit(batch=BATCH, **options):
    """Return a function that trains a small model."""
    random = np.random.default_rng(0)
    data = [random.normal(size=(EXAMPLES, width)).astype("float32") for width in (16, 1)]
    model = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(16), keras.layers.Dense(1)])
    model.compile("sgd", "mse", **options)
    return partial(model.fit, *data, batch_size=batch, verbose=0)


def test_a_larger_batch(captured):
    found = tp.compare(*(captured(fit(size)) for size in (4, 64))).summary
    assert found["changes"] == ["batch size: 4 before, 64 after"]
    assert (found["batch_before"], found["batch_after"]) == (4, 64)
    assert found["speedup_of"] == "time per example"


def test_several_steps_per_execution(captured):
    """The last execution has fewer batches."""
    found = tp.compare(captured(fit()), captured(fit(steps_per_execution=10))).summary
    assert found["changes"] == ["steps per execution: 1 before, 10 after"]
    assert found["speedup_of"] == "time per example"


def test_two_functions_that_became_one(captured):
    """Nothing marks the steps: before, each batch has two calls."""
    weight = tf.Variable(tf.ones((16, 16)))

    @tf.function
    def forward(x):
        return tf.reduce_mean(x @ weight)

    @tf.function
    def update(loss):
        weight.assign_sub(0.001 * loss * tf.ones_like(weight))

    @tf.function
    def both(x):
        weight.assign_sub(0.001 * tf.reduce_mean(x @ weight) * tf.ones_like(weight))

    batches = tf.data.Dataset.from_tensor_slices(tf.ones((32 * BATCH, 16))).batch(BATCH)
    two = captured(lambda: [update(forward(x)) for x in batches])
    one = captured(lambda: [both(x) for x in batches])
    found = tp.compare(two, one).summary
    assert found["changes"] == ["functions: forward, update before, both after"]
    assert (found["speedup_of"], found["batch_before"], found["batch_after"]) == ("time per example", BATCH, BATCH)


def test_a_callback_is_no_change_of_the_program(captured):
    slow = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: time.sleep(0.1))
    train = fit()
    found = tp.compare(captured(partial(train, epochs=2, callbacks=[slow])), captured(partial(train, epochs=2)))
    assert found.summary["changes"] == []
    assert "outside_steps_ms" in set(found.table["metric"])


def test_the_load_of_other_programs_is_recorded(captured):
    summary = tp.compare(*[captured(lambda: time.sleep(0.2)) for _ in range(2)]).summary
    for side in ("before", "after"):
        assert 0 <= summary[f"other_load_{side}_percent"] <= 100
