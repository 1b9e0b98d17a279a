"""Ops that run one by one, beside Python and functions that are traced."""

import keras
import numpy as np
import tensorflow as tf

from programs import program


def counted(size):
    return sum(k % 7 for k in range(size))


def batch(size):
    sizes = np.arange(200_000) + size
    return sizes[0] + counted(size)


def turn(weights):
    for _ in range(20):
        weights.assign(tf.tanh(weights) * 1.01)


@program
def beside_python():
    weights = tf.Variable(tf.ones((32, 32)))

    def loop():
        for _ in range(40):
            batch(150_000)
            turn(weights)

    return loop


@program
def without_steps():
    weights = tf.Variable(tf.ones((32, 32)))
    return lambda: [turn(weights) for _ in range(20)]


def turn_back(weights):
    for _ in range(20):
        weights.assign(tf.tanh(weights) / 1.01)


@program
def two_functions():
    weights = tf.Variable(tf.ones((32, 32)))

    def loop():
        for _ in range(60):
            turn(weights)
        for _ in range(60):
            turn_back(weights)

    return loop


def epoch(batches, weights):
    average = keras.metrics.Mean()
    for batch in batches:
        for _ in range(10):
            weights.assign(tf.tanh(weights + batch) * 1.01)
        average.update_state(tf.reduce_sum(weights))
    return average.result()


@program
def whole_epoch():
    weights = tf.Variable(tf.ones((32, 32)))
    batches = tf.data.Dataset.from_tensors(tf.ones((32, 32))).repeat(40)
    return lambda: [epoch(batches, weights) for _ in range(2)]


@program
def model_called():
    net = keras.Sequential([keras.layers.Dense(8) for _ in range(4)])

    @tf.function
    def train(x):
        return tf.reduce_sum(x @ tf.ones((4, 4)))

    def act():
        for frame in range(150):
            _ = int(tf.argmax(net(np.ones((1, 4), "float32"))[0]))
            if frame % 4 == 0:
                train(tf.ones((4, 4)))

    return act


def restyle(image, layers, target, optimizer):
    with tf.GradientTape() as tape:
        features = image
        for layer in layers:
            features = layer(features)
        loss = tf.reduce_mean((features - target) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])


@program
def frozen_layers():
    layers = [keras.layers.Conv2D(64, 3, padding="same", trainable=False) for _ in range(4)]
    image, optimizer = tf.Variable(tf.random.uniform((1, 96, 96, 3))), keras.optimizers.SGD(0.1)
    target = tf.zeros((1, 96, 96, 64))

    def loop():
        for _ in range(20):
            restyle(image, layers, target, optimizer)

    return loop
