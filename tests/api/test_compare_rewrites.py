"""Programs and their rewrites, profiled: the gain that is told is that of the clock, whatever a step has become."""

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import tfprof_nb as tp

pytestmark = pytest.mark.tensorflow

EXAMPLES, BATCH = 256, 8
SLOW_S = 0.02
BUSY_PERCENT = 40  # from here on the load of other programs may explain what was gained


@dataclass(frozen=True)
class Captured:
    profile: Any
    seconds: float


@pytest.fixture(scope="module")
def keras():
    pytest.importorskip("tensorflow")
    return pytest.importorskip("keras")


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    return random.normal(size=(EXAMPLES, 16)).astype("float32"), random.normal(size=(EXAMPLES, 1)).astype("float32")


@pytest.fixture
def captured(tmp_path):
    """Return a function that runs a program twice, to warm it up, then captures it."""

    def capture(program):
        program()
        with tp.profile("made", logdir=tmp_path) as p:
            begun = time.perf_counter()
            program()
            seconds = time.perf_counter() - begun
        return Captured(p, seconds)

    return capture


@pytest.fixture
def model(keras):
    def make(**options):
        made = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(16), keras.layers.Dense(1)])
        made.compile("sgd", "mse", **options)
        return made

    return make


def check(before, after, *, changes):
    """The gain agrees with the clock, without the removal of iterators, which takes time by chance."""
    found = tp.compare(before.profile, after.profile).summary
    if max(found["other_load_before_percent"], found["other_load_after_percent"]) < BUSY_PERCENT:
        assert found["verdict"] == "faster", found
    assert found["changes"] == changes
    seconds = [side.seconds - removing(side.profile) for side in (before, after)]
    assert found["speedup"] == pytest.approx(seconds[0] / seconds[1], rel=0.25)
    return found


def removing(profile):
    events = profile.events
    return events.loc[events["name"] == "TFE_DeleteTensorHandle", "duration_ps"].sum() / 1e12


@pytest.fixture
def slow(keras):
    """A callback that takes time after each execution, so that no load hides what fewer of them gain."""

    class Slow(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            time.sleep(SLOW_S)

    return Slow()


def test_a_larger_batch(captured, model, data, slow):
    small, large = (
        captured(partial(model().fit, *data, batch_size=size, verbose=0, callbacks=[slow])) for size in (4, 64)
    )
    found = check(small, large, changes=["batch size: 4 before, 64 after"])
    assert found["step_speedup"] < found["speedup"] / 2
    assert (found["batch_before"], found["batch_after"]) == (4, 64)


def test_several_steps_per_execution(captured, model, data, slow):
    """The last execution has fewer batches."""
    one, ten = (
        captured(partial(made.fit, *data, batch_size=BATCH, verbose=0, callbacks=[slow]))
        for made in (model(), model(steps_per_execution=10))
    )
    found = check(one, ten, changes=["steps per execution: 1 before, 10 after"])
    assert found["speedup_of"] == "time per example"
    assert found["step_speedup"] < 1 < found["speedup"]


def test_two_functions_that_became_one(captured):
    """Nothing marks the steps: before, each batch has two calls."""
    tf = pytest.importorskip("tensorflow")
    weight = tf.Variable(tf.ones((16, 16)))

    @tf.function
    def forward(x):
        tf.numpy_function(lambda: time.sleep(2 * SLOW_S), [], [])
        return tf.reduce_mean(x @ weight)

    @tf.function
    def update(loss):
        tf.numpy_function(lambda: time.sleep(2 * SLOW_S), [], [])
        weight.assign_sub(0.001 * loss * tf.ones_like(weight))

    @tf.function
    def both(x):
        tf.numpy_function(lambda: time.sleep(SLOW_S), [], [])
        weight.assign_sub(0.001 * tf.reduce_mean(x @ weight) * tf.ones_like(weight))

    batches = tf.data.Dataset.from_tensor_slices(tf.ones((32 * BATCH, 16))).batch(BATCH)
    two = captured(lambda: [update(forward(x)) for x in batches])
    one = captured(lambda: [both(x) for x in batches])
    found = check(two, one, changes=["functions: forward, update before, both after"])
    assert (found["speedup_of"], found["batch_before"], found["batch_after"]) == ("time per example", BATCH, BATCH)


def test_what_begins_and_ends_an_epoch(captured, model, data, keras):
    class Slow(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            time.sleep(50 * SLOW_S)

    made = model()
    with_slow = captured(lambda: made.fit(*data, epochs=2, verbose=0, callbacks=[Slow()]))
    without = captured(lambda: made.fit(*data, epochs=2, verbose=0))
    check(with_slow, without, changes=[])
    parts = tp.compare(with_slow.profile, without.profile).table.set_index("metric")["change"].drop("time_ms")
    assert parts.idxmin() == "outside_steps_ms"


def test_retracing_that_is_gone(captured):
    tf = pytest.importorskip("tensorflow")

    @tf.function
    def step(x, scale):
        for _ in range(20):
            x = tf.tanh(x * scale)
        return x

    x = tf.ones((BATCH, 4))
    calls = iter(range(10**6))
    retraced = captured(lambda: [step(x, 0.1 * next(calls)) for _ in range(10)])
    traced_once = captured(lambda: [step(x, tf.constant(0.1 * next(calls))) for _ in range(10)])
    found = tp.compare(retraced.profile, traced_once.profile).summary
    assert found["verdict"] == "faster"
    assert found["speedup"] == pytest.approx(retraced.seconds / traced_once.seconds, rel=0.25)


def test_of_a_model_that_was_not_warm_the_clock_is_told_first_and_longer_training_next(model, data, slow, tmp_path):
    """The first step traces, and the cell makes the model: neither is work that a longer training repeats."""
    sides = []
    for callbacks in ([slow], []):
        with tp.profile("cold", logdir=tmp_path) as p:
            time.sleep(1)
            model().fit(*data, batch_size=BATCH, verbose=0, callbacks=callbacks)
        sides.append(p)
    found = tp.compare(*sides).summary
    steps = EXAMPLES // BATCH
    assert (found["verdict"], found["speedup_of"]) == ("faster", "capture")
    assert found["before_ms"] > found["after_ms"] > 1000
    assert found["longer_before_ms"] * EXAMPLES > 1000 * SLOW_S * steps
    assert found["longer_after_ms"] * EXAMPLES < 1000
    said = " ".join(str(tp.compare(*sides)).split())
    assert "without making the model and tracing, one example took" in said


def test_the_load_of_other_programs_is_recorded(captured):
    summary = tp.compare(*[captured(lambda: time.sleep(0.2)).profile for _ in range(2)]).summary
    for side in ("before", "after"):
        assert 0 <= summary[f"other_load_{side}_percent"] <= 100
