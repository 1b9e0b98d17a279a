"""Many small ops are told by the function that makes them; Keras' own loops over time are not."""

import keras
import numpy as np
import tensorflow as tf

BEGIN = "Many small ops"


def by_column(x):
    total = x[:, 0]
    for i in range(1, 120):
        total += tf.clip_by_value(tf.math.log1p(x[:, i]), 0.0, 1.0)
    return total


def smoothed(x):
    state = x[:, 0]
    for t in tf.range(300):
        state = 0.9 * state + 0.1 * x[:, t]
    return state


WEIGHTS = tf.Variable(tf.ones((120, 4)))


def clipped(x):
    total = tf.zeros_like(WEIGHTS)
    for i in tf.range(100) % 8:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(tf.tanh(x[i : i + 1] @ WEIGHTS) * 2.0) ** 2)
        total += tf.clip_by_norm(tape.gradient(loss, WEIGHTS), 1.0)
    return total


def run(function, width):
    step = tf.function(lambda x: tf.reduce_sum(function(x)))
    batches = tf.data.Dataset.from_tensors(tf.ones((8, width))).repeat(30)

    def loop():
        for batch in batches:
            step(batch)

    return loop


def test_a_loop_over_columns(advised, place_of, the_one):
    table = advised(run(by_column, 120))
    found = the_one(table, BEGIN)
    assert found["finding"].startswith("Many small ops in each step: by_column")
    assert found["place"] == place_of(by_column, "log1p")
    assert "Vectorise" in found["fix"]
    assert found["gain_low_percent"] < found["gain_high_percent"]
    assert not table["finding"].str.startswith(("Python between ops", "The steps are small")).any()


def test_a_loop_over_time_within_the_graph(advised, place_of, the_one):
    found = the_one(advised(run(smoothed, 300)), BEGIN)
    assert "in a loop" in found["evidence"]
    assert found["place"] == place_of(smoothed, "state = 0.9")


def test_gradients_of_single_examples_are_taken_all_at_once(advised, place_of, the_one):
    found = the_one(advised(run(clipped, 120)), BEGIN)
    assert "tf.vectorized_map" in found["fix"]
    # The loop takes less time than it takes to build the graph of that.
    assert found["fix"].endswith("a run as short as this may gain nothing.")
    assert found["gain_low_percent"] == 0


def test_many_layers_of_one_class(advised, place_of, the_one):
    def fit():
        inputs = [keras.Input((1,), dtype="int32") for _ in range(20)]
        columns = [keras.layers.Embedding(9, 3)(one) for one in inputs]
        outputs = keras.layers.Dense(1)(keras.layers.Flatten()(keras.layers.Concatenate(axis=1)(columns)))
        model = keras.Model(inputs, outputs)
        model.compile("adam", "mse")
        data = [np.zeros((400, 1), "int32")] * 20
        model.fit(data, np.zeros((400, 1)), batch_size=16, verbose=0)

    found = the_one(advised(fit), BEGIN)
    assert found["finding"].startswith("Many small ops in each step: 20 Embedding layers")
    assert found["place"] == place_of(fit, "keras.layers.Embedding")


class Reader(keras.Model):
    def __init__(self):
        super().__init__()
        self.read = keras.layers.GRU(16)

    def call(self, x):
        return self.read(x)


def test_a_recurrent_layer_of_keras_is_no_finding(advised):
    model, optimizer = Reader(), keras.optimizers.SGD()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )

    def loop():
        for x in tf.data.Dataset.from_tensors(tf.ones((8, 60, 4))).repeat(20):
            step(x)

    assert not advised(loop)["finding"].str.startswith(BEGIN).any()
