"""What is the same in every step, or in every epoch."""

import keras
import numpy as np
import tensorflow as tf

from programs import program

POINTS = tf.constant(np.random.default_rng(0).random((500, 500)), tf.float32)


def distances(a, b):
    return tf.matmul(a, b, transpose_b=True)


def loop(step, batches):
    def run():
        for batch in batches:
            step(batch)

    return run


def batches(shape):
    return tf.data.Dataset.from_tensors(tf.ones(shape)).repeat(20)


def backbone(*, trainable):
    image = keras.Input((96, 96, 3))
    x = keras.layers.Conv2D(32, 3, activation="relu")(image)
    x = keras.layers.Conv2D(48, 3, activation="relu")(x)
    model = keras.Model(image, keras.layers.GlobalAveragePooling2D()(x), name="backbone")
    model.trainable = trainable
    return model


def transfer(frozen, augmented=False, epochs=3):
    inputs = keras.Input((96, 96, 3))
    x = keras.layers.RandomFlip()(inputs) if augmented else inputs
    model = keras.Model(inputs, keras.layers.Dense(2)(backbone(trainable=not frozen)(x, training=False)))
    model.compile("adam", "mse")
    images = np.ones((64, 96, 96, 3), "float32")
    return lambda: model.fit(images, np.zeros((64, 2)), batch_size=16, epochs=epochs, verbose=0)


@program
def frozen_part():
    convolutions = [keras.layers.Conv2D(32, 3, activation="relu", trainable=False) for _ in range(2)]
    pooled = keras.layers.GlobalAveragePooling2D(name="pooled")
    parts = [keras.layers.Rescaling(2.0), *convolutions, pooled, keras.layers.Dense(4, trainable=False, name="few")]
    model = keras.Sequential([keras.layers.Input((96, 96, 3)), *parts, keras.layers.Dense(2)])
    model.compile("adam", "mse")
    images = np.ones((64, 96, 96, 3), "float32")
    return lambda: model.fit(images, np.zeros((64, 2)), batch_size=16, epochs=3, verbose=0)


@program
def constant_chain():
    weights = tf.Variable(tf.ones((500, 1)))

    def step(x):
        kernel = distances(POINTS, POINTS)
        inverse = tf.linalg.inv(kernel + tf.eye(500))
        weights.assign_sub(1e-6 * tf.transpose(distances(x, inverse @ POINTS)) @ x[:, :1])

    return loop(tf.function(step), batches((4, 500)))


@program
def constant_of_a_layer():
    class Projected(keras.layers.Layer):
        def call(self, x):
            return x @ tf.linalg.inv(POINTS + tf.eye(500))

    model = keras.Sequential([Projected(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.ones((80, 500), "float32")
    return lambda: model.fit(data, data[:, :1], batch_size=8, verbose=0)


@program
def nothing_constant():
    weights = tf.Variable(tf.random.normal((500, 500)))

    @tf.function
    def step(x):
        noise = tf.linalg.inv(tf.random.normal((500, 500)))
        weights.assign_add(1e-6 * tf.linalg.inv(weights + tf.eye(500)) @ noise)
        return tf.linalg.inv(POINTS + x[0])

    return loop(step, batches((4, 500)))


@program
def frozen_backbone():
    return transfer(frozen=True)


@program
def trained_backbone():
    return transfer(frozen=False)


@program
def augmented_images():
    return transfer(frozen=True, augmented=True)


@program
def one_epoch():
    return transfer(frozen=True, epochs=1)
