"""A pipeline of many small stages before a small model."""

import keras
import numpy as np
import tensorflow as tf

rows = np.random.rand(40_000, 8).astype("float32")
data = tf.data.Dataset.from_tensor_slices(rows)
for number in range(6):
    data = data.map(lambda row, added=float(number): row + added, num_parallel_calls=2)
data = data.filter(lambda row: row[0] > 0).map(lambda row: (row, row[:1])).batch(64).prefetch(2)
model = keras.Sequential([keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
model.compile("sgd", "mse")


def cell():
    model.fit(data, epochs=2, verbose=0)
