"""A loop of one's own around a tf.function."""

import keras
import numpy as np
import tensorflow as tf

model = keras.Sequential([keras.layers.Dense(256, "relu"), keras.layers.Dense(256, "relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()
x, y = np.random.rand(12_800, 64).astype("float32"), np.random.rand(12_800, 1).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )
    return loss


def cell():
    for _ in range(4):
        for batch in data:
            train_step(*batch)
