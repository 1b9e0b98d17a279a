"""The layer that takes most of each step is named with its line, whoever wrote the model in which style."""

import keras
import numpy as np
import pytest
import tensorflow as tf

IMAGES = np.ones((64, 48, 48, 4), "float32")
LABELS = np.zeros((64, 1), "float32")


def sequential():
    model = keras.Sequential(
        [
            keras.layers.Conv2D(4, 3, padding="same", name="small"),
            keras.layers.Flatten(),
            keras.layers.Dense(400, activation="relu", name="wide"),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    model.fit(IMAGES, LABELS, batch_size=8, epochs=2, verbose=0)


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.flat = keras.layers.Flatten()
        self.hidden = keras.layers.Dense(399)
        self.head = keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.hidden(self.flat(x)))


def custom_loop():
    model, optimizer = Subclassed(), keras.optimizers.Adam()

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )

    for x, y in tf.data.Dataset.from_tensor_slices((IMAGES, LABELS)).batch(8).repeat(2):
        train_step(x, y)


@pytest.mark.parametrize(
    ("program", "code", "text", "name"),
    [(sequential, sequential, "Flatten()", "wide"), (custom_loop, Subclassed, "Flatten()", "dense")],
)
def test_a_huge_dense_layer_is_named_and_its_input_pooled(advised, place_of, the_one, program, code, text, name):
    table = advised(program)
    found = the_one(table, "The layer ")
    assert found["finding"].startswith(f"The layer {name}")
    assert found["finding"].endswith("takes most of each step")
    assert found["severity"] == "medium"
    assert place_of(code, f"Dense({400 if name == 'wide' else 399}") in found["evidence"]
    assert "in the optimizer" in found["evidence"]
    assert "GlobalAveragePooling2D" in found["fix"]
    assert found["place"] == place_of(code, text)
    assert "keras.layers.GlobalAveragePooling2D()" in found["change"]
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100
    assert not table["finding"].str.startswith("One op").any()


def test_a_variable_without_a_layer_is_told_by_its_line(advised, place_of, the_one):
    class Product(tf.Module):
        def __init__(self):
            self.weights = tf.Variable(tf.random.normal((1500, 1500)))

        @tf.function
        def step(self, x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(x @ self.weights)
            self.weights.assign_sub(0.1 * tape.gradient(loss, self.weights))

    module, x = Product(), tf.ones((256, 1500))
    found = the_one(advised(lambda: [module.step(x) for _ in range(10)]), "The ops at ")
    assert found["severity"] == "info"
    assert place_of(Product, "x @ self.weights") in found["finding"]


def test_layers_of_like_cost_are_no_finding(advised):
    model = keras.Sequential([keras.layers.Dense(700) for _ in range(6)] + [keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.ones((256, 700), "float32")
    table = advised(lambda: model.fit(data, data[:, :1], batch_size=32, epochs=2, verbose=0))
    assert not table["finding"].str.startswith("The layer").any()


def test_a_recurrent_layer_is_told_to_take_fewer_time_steps(advised, the_one):
    model = keras.Sequential([keras.layers.Input((48, 3)), keras.layers.GRU(128), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.ones((1024, 48, 3), "float32")
    table = advised(lambda: model.fit(data, data[:, 0, :1], batch_size=512, epochs=2, verbose=0))
    found = the_one(table, "The layer gru takes most of each step")
    assert found["fix"].endswith("Its ops run anew for each time step: take fewer of these, or join several to one.")
