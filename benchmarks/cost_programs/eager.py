"""A loop that runs op by op."""

import tensorflow as tf

weights = [tf.Variable(tf.random.normal((64, 64)) * 0.05) for _ in range(8)]
x, y = tf.random.normal((128, 64)), tf.random.normal((128, 64))


def cell():
    for _ in range(400):
        with tf.GradientTape() as tape:
            hidden = x
            for weight in weights:
                hidden = tf.nn.relu(hidden @ weight)
            loss = tf.reduce_mean((hidden - y) ** 2)
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(0.01 * gradient)
