"""Models of which one layer takes most of each step, written in several styles."""

import keras
import numpy as np
import tensorflow as tf

from programs import program

IMAGES = np.ones((64, 48, 48, 4), "float32")
LABELS = np.zeros((64, 1), "float32")


@program
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


@program
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


@program
def product():
    class Product(tf.Module):
        def __init__(self):
            self.weights = tf.Variable(tf.random.normal((1500, 1500)))

        @tf.function
        def step(self, x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(x @ self.weights)
            self.weights.assign_sub(0.1 * tape.gradient(loss, self.weights))

    module, x = Product(), tf.ones((256, 1500))
    return lambda: [module.step(x) for _ in range(10)]


@program
def alike():
    model = keras.Sequential([keras.layers.Dense(700) for _ in range(6)] + [keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.ones((256, 700), "float32")
    return lambda: model.fit(data, data[:, :1], batch_size=32, epochs=2, verbose=0)


@program
def recurrent():
    model = keras.Sequential([keras.layers.Input((48, 3)), keras.layers.GRU(128), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.ones((1024, 48, 3), "float32")
    return lambda: model.fit(data, data[:, 0, :1], batch_size=512, epochs=2, verbose=0)
