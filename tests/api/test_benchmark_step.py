"""A step by itself: variants by example, and a model that is bit for bit as before."""

import random

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfprof_nb as tp
from clock import Clock
from tfprof_nb.capture.benchmark_input import draws, measure
from tfprof_nb.capture.benchmark_step import measure as measure_step
from tfprof_nb.render.text import text_view

SECONDS = 2.0
X = np.random.default_rng(1).random((32, 16), np.float32)
Y = X.sum(axis=1, keepdims=True)


def compiled(model, **options):
    model.compile(keras.optimizers.Adam(1e-2), "mse", metrics=["mae", keras.metrics.RootMeanSquaredError()], **options)
    return model


def dense():
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Input((16,)),
            layers.Dense(32, "relu"),
            layers.BatchNormalization(),
            layers.Dropout(0.3),
            layers.Dense(1),
        ]
    )


def values(*variables):
    return [each.numpy() for each in variables]


def state(model):
    return values(*model.variables, *model.optimizer.variables, *model.metrics_variables)


@pytest.fixture
def clock(monkeypatch):
    """A clock by which each execution takes 20 ms, and what the code under test sleeps."""
    built = Clock(look_s=0.02)
    monkeypatch.setattr(draws, "_POLL_S", None)  # who waits for the end doesn't look
    for module in (draws, measure, measure_step):
        monkeypatch.setattr(module, "time", built)
    return built


def trained(measure):
    """Train, measure a step or not, and train on; return all that training changes and draws, and what was measured."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(5)
    model, measured = compiled(dense()), None
    model.fit(X, Y, batch_size=8, verbose=0)
    before = state(model)
    if measure:
        measured = tp.benchmark_step(model, (X, Y), seconds=SECONDS)
        for old, new in zip(before, state(model), strict=True):
            np.testing.assert_array_equal(old, new)
    drawn = [random.random(), np.random.random(), float(tf.random.uniform(()))]  # noqa: NPY002
    drawn.append(keras.layers.Dense(2).name)
    drawn += keras.random.normal((2,)).numpy().tolist()
    model.fit(X, Y, batch_size=8, verbose=0)
    return (state(model), drawn, [keras.layers.Dense(3)(tf.ones((1, 2))).numpy()]), measured


def test_a_models_variants_are_measured_and_its_weights_metrics_and_seeds_are_bit_equal_afterwards(clock):
    (plain, _), (as_before, measured) = trained(False), trained(True)
    for one, other in zip(plain, as_before, strict=True):
        for old, new in zip(one, other, strict=True):
            np.testing.assert_array_equal(old, new)
    table = measured.table.set_index("name")
    assert table.index[0] == "as it is"
    assert any(name.startswith("jit_compile=") for name in table.index)
    assert {"steps_per_execution=10", "batch of 64", "batch of 128"} <= set(table.index)
    assert table.at["batch of 128", "examples"] == 128
    gains = {"as it is": 1, "batch of 64": 2, "batch of 128": 4, "steps_per_execution=10": 10}
    assert table["speedup"][list(gains)].to_dict() == pytest.approx(gains)
    assert table["example_us"]["as it is"] == pytest.approx(2e4 / 32)
    assert any(note.startswith("Mixed precision is left out") for note in measured.notes)


def test_a_model_that_was_never_built_stays_unbuilt():
    model = compiled(keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)]))
    assert tp.benchmark_step(model, (X, Y), seconds=1).summary["step_ms"] > 0
    assert not model.built
    assert not model.optimizer.built


def test_the_variables_that_a_function_writes_are_as_before():
    weights, optimizer = tf.Variable(tf.ones((16, 1))), keras.optimizers.SGD(0.1, momentum=0.9)
    noise = tf.random.Generator.from_seed(4)
    calls = tf.Variable(0)

    @tf.function
    def step(x, y):
        calls.assign_add(1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights - y + noise.normal(())) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    before = values(weights, noise.state, calls)
    measured = tp.benchmark_step(step, (X, Y), seconds=SECONDS)
    for old, new in zip(before, values(weights, noise.state, calls), strict=True):
        np.testing.assert_array_equal(old, new)
    assert all(float(tf.reduce_sum(tf.abs(each))) == 0 for each in optimizer.variables if each.name == "SGD_momentum")
    assert int(optimizer.iterations) == 0
    assert step.experimental_get_tracing_count() == 0
    assert measured.table["name"].tolist()[:2] == ["as it is", "jit_compile=True"]
    step(X, Y)
    assert int(calls) == 1


def chain(batch):
    for _ in range(60):
        batch = tf.tanh(batch * 1.01) + 0.1
    return tf.reduce_sum(batch)


def test_a_python_function_gains_by_being_traced_and_the_code_says_how(clock):
    def slow_in_python(batch):
        clock.sleep(0.18)
        return chain(batch)

    measured = tp.benchmark_step(slow_in_python, tf.ones((8, 8)), seconds=SECONDS)
    assert measured.table.set_index("name").at["tf.function", "speedup"] == pytest.approx(10)
    assert measured.summary["best"] in ("tf.function", "jit_compile=True")
    space = {"tf": tf, "slow_in_python": slow_in_python}
    exec(measured.code, space)
    assert float(space["slow_in_python"](tf.ones((8, 8)))) == pytest.approx(float(chain(tf.ones((8, 8)))), rel=1e-4)


@pytest.mark.parametrize("name", ["jit_compile=True", "jit_compile=False", "steps_per_execution=10"])
def test_the_code_for_a_model_runs_and_keeps_what_it_was_compiled_with(name):
    from tfprof_nb.capture.benchmark_step.variants import keras_steps

    model = compiled(dense(), jit_compile=name.endswith("False"))
    (code,) = [step.code for step in keras_steps(model, model, (X, Y), []) if step.name == name] or [None]
    if code is None:
        pytest.fail(f"there is no {name}")
    exec(code, {"model": model})
    option, value = name.split("=")
    assert str(getattr(model, option)) == value
    model.fit(X, Y, verbose=0)
    assert {"mae", "root_mean_squared_error"} <= set(model.get_metrics_result())


class Own(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.units, self.dense = units, keras.layers.Dense(units)

    def call(self, x):
        return self.dense(x)


class Described(Own):
    def get_config(self):
        return {"units": self.units}


@pytest.mark.parametrize("kind", [Own, Described])
def test_a_model_of_ones_own_is_as_before(kind):
    model = compiled(kind(1))
    model.fit(X, Y, verbose=0)
    before, function = state(model), model.train_function
    measured = tp.benchmark_step(model, (X, Y), seconds=1)
    assert measured.summary["step_ms"] > 0
    assert any("trained itself" in note for note in measured.notes) == (kind is Own)
    assert model.train_function is function
    assert model.steps_per_execution == 1
    for old, new in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(old, new)


def fails(batch):
    raise ValueError(f"no such picture in {batch.shape}")


@pytest.mark.parametrize(
    ("thing", "batch", "message"),
    [
        (dense, (X, Y), "compile it first"),
        (lambda: compiled(Own(1)), (X, Y), "call it on a batch first"),
        (lambda: compiled(dense()), (X[:0], Y[:0]), "The batch is empty"),
        (lambda: compiled(dense()), (X[:, :3], Y), r"fails on this batch: ValueError: .*incompatible.*\b3\b"),
        (lambda: fails, X, "no such picture"),
        (lambda: 7, X, "give a Keras model or a function"),
    ],
)
def test_what_can_t_be_measured_is_refused_with_the_reason(thing, batch, message):
    with pytest.raises(tp.TfprofError, match=message):
        tp.benchmark_step(thing(), batch, seconds=1)


def test_a_model_without_a_loss_is_refused():
    model = dense()
    model.compile("sgd")
    with pytest.raises(tp.TfprofError, match="No loss to compute"):
        tp.benchmark_step(model, (X, Y), seconds=1)


def only_eight(batch):
    tf.debugging.assert_equal(tf.shape(batch)[0], 8, "eight and no more")
    return tf.reduce_sum(batch)


def test_a_variant_that_fails_is_left_out_with_the_reason():
    measured = tp.benchmark_step(tf.function(only_eight), tf.ones((8, 2)), seconds=1)
    assert "batch of 16" not in measured.table["name"].tolist()
    assert "eight and no more" in " ".join(measured.notes)


def test_it_shows_itself_as_text_and_html():
    measured = tp.benchmark_step(tf.function(chain), tf.ones((8, 8)), seconds=1)
    content = measured._content()
    text = text_view(content.title, content.panels)
    assert "A step of 8 examples takes" in text
    assert "Time per example, as it is and changed" in text
    assert "jit_compile=True" in content.view().to_html()
