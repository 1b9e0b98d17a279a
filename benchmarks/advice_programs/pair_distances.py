"""Distances of all pairs of a batch, made from the differences of all pairs."""

KIND = "an n x n x d tensor of differences"

SETUP = """
import numpy as np
import tensorflow as tf
import keras

features = np.random.rand(2048, 64).astype("float32")
labels = np.random.randint(0, 10, 2048)
encoder = keras.Sequential([
    keras.Input((64,)),
    keras.layers.Dense(128, activation="relu"),
    keras.layers.Dense(128),
])
optimizer = keras.optimizers.Adam()

def contrastive_loss(emb, y, margin=1.0):
    diff = emb[:, None, :] - emb[None, :, :]
    dist = tf.sqrt(tf.reduce_sum(tf.square(diff), axis=-1) + 1e-6)
    same = tf.cast(y[:, None] == y[None, :], tf.float32)
    return tf.reduce_mean(same * dist ** 2 + (1 - same) * tf.maximum(margin - dist, 0) ** 2)

@tf.function
def train_step(x, y, loss_fn):
    with tf.GradientTape() as tape:
        loss = loss_fn(encoder(x, training=True), y)
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss
"""

CELL = """
for x, y in tf.data.Dataset.from_tensor_slices((features, labels)).batch(256):
    train_step(x, y, contrastive_loss)
"""

FIXED = """
def product_loss(emb, y, margin=1.0):
    norms = tf.reduce_sum(emb ** 2, -1)
    squared = norms[:, None] - 2 * tf.matmul(emb, emb, transpose_b=True) + norms[None, :]
    dist = tf.sqrt(tf.maximum(squared, 0.0) + 1e-6)
    same = tf.cast(y[:, None] == y[None, :], tf.float32)
    return tf.reduce_mean(same * dist ** 2 + (1 - same) * tf.maximum(margin - dist, 0) ** 2)

for x, y in tf.data.Dataset.from_tensor_slices((features, labels)).batch(256):
    train_step(x, y, product_loss)
"""

RULES = ("pairwise-differences",)
PLACES = ("diff = emb", "dist = tf.sqrt")
