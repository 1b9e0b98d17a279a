"""A table of vectors that becomes a tensor anew in each training step."""

KIND = "the same array converted in each step"

SETUP = """
import numpy as np
import tensorflow as tf

vectors = np.random.rand(40000, 64)
baskets = np.random.randint(0, 40000, (4000, 20))
weights = tf.Variable(tf.random.normal((64, 1)))

@tf.function
def fit_basket(embedding, items):
    with tf.GradientTape() as tape:
        mean = tf.reduce_mean(tf.gather(embedding, items), axis=1)
        loss = tf.reduce_mean((mean @ weights - 1.0) ** 2)
    weights.assign_sub(0.01 * tape.gradient(loss, weights))
    return loss
"""

CELL = """
for first in range(0, len(baskets), 50):
    embedding = tf.constant(vectors, tf.float32)
    loss = fit_basket(embedding, tf.constant(baskets[first:first + 50]))
print(float(loss))
"""

FIXED = """
embedding = tf.constant(vectors, tf.float32)
for first in range(0, len(baskets), 50):
    loss = fit_basket(embedding, tf.constant(baskets[first:first + 50]))
print(float(loss))
"""

RULES = ("same-tensor-each-step",)
PLACES = ("tf.constant(vectors",)
