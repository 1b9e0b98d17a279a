"""A tf.function that treats the columns of a table one after another."""

KIND = "many tiny ops: a loop over columns"

SETUP = """
import numpy as np
import tensorflow as tf

N_COLUMNS = 120
table = np.random.lognormal(size=(12800, N_COLUMNS)).astype(np.float32)
target = np.log(table[:, :4]).sum(axis=1, keepdims=True)
mean = np.log1p(table).mean(axis=0)
std = np.log1p(table).std(axis=0)

dense = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
dense.build((None, N_COLUMNS))
adam = tf.keras.optimizers.Adam(0.001)
rows = tf.data.Dataset.from_tensor_slices((table, target)).batch(64).prefetch(tf.data.AUTOTUNE)
"""

CELL = """
def normalize_columns(x):
    columns = []
    for i in range(N_COLUMNS):
        column = tf.math.log1p(x[:, i])
        column = (column - mean[i]) / std[i]
        column = tf.clip_by_value(column, -3.0, 3.0)
        columns.append(column)
    return tf.stack(columns, axis=1)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(dense(normalize_columns(x)) - y))
    adam.apply_gradients(zip(tape.gradient(loss, dense.trainable_variables), dense.trainable_variables))
    return loss

for epoch in range(3):
    for x, y in rows:
        loss = step(x, y)
    tf.print("epoch", epoch, "loss", loss)
"""

FIXED = """
def normalize_columns(x):
    columns = (tf.math.log1p(x) - mean) / std
    return tf.clip_by_value(columns, -3.0, 3.0)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(dense(normalize_columns(x)) - y))
    adam.apply_gradients(zip(tape.gradient(loss, dense.trainable_variables), dense.trainable_variables))
    return loss

for epoch in range(3):
    for x, y in rows:
        loss = step(x, y)
    tf.print("epoch", epoch, "loss", loss)
"""

RULES = ("many-small-ops",)
PLACES = ("normalize_columns", "for i in range(N_COLUMNS)")
