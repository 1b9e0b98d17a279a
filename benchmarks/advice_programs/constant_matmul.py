"""A kernel matrix of fixed points is computed and inverted in each step."""

KIND = "same value in every step: a constant matrix"

SETUP = """
import numpy as np
import tensorflow as tf

rs = np.random.RandomState(0)
inducing = tf.constant(rs.randn(300, 8), tf.float32)
xs = rs.randn(2560, 8).astype(np.float32)
ys = np.sin(xs[:, :1])

def rbf(a, b):
    distance = tf.reduce_sum(tf.square(a[:, None, :] - b[None, :, :]), axis=-1)
    return tf.exp(-distance / 8.0)
"""

CELL = """
weights = tf.Variable(tf.zeros((300, 1)))
opt = tf.keras.optimizers.SGD(0.01)

@tf.function
def gp_step(xb, yb):
    k_mm = rbf(inducing, inducing) + 1e-2 * tf.eye(300)
    k_inv = tf.linalg.inv(k_mm)
    with tf.GradientTape() as tape:
        pred = rbf(xb, inducing) @ (k_inv @ weights)
        loss = tf.reduce_mean((pred - yb) ** 2)
    opt.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss

for epoch in range(3):
    for i in range(0, len(xs), 32):
        loss = gp_step(tf.constant(xs[i:i+32]), tf.constant(ys[i:i+32]))
"""

FIXED = """
weights = tf.Variable(tf.zeros((300, 1)))
opt = tf.keras.optimizers.SGD(0.01)
k_inv = tf.linalg.inv(rbf(inducing, inducing) + 1e-2 * tf.eye(300))

@tf.function
def gp_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = rbf(xb, inducing) @ (k_inv @ weights)
        loss = tf.reduce_mean((pred - yb) ** 2)
    opt.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss

for epoch in range(3):
    for i in range(0, len(xs), 32):
        loss = gp_step(tf.constant(xs[i:i+32]), tf.constant(ys[i:i+32]))
"""

RULES = ("constant-each-step",)
PLACES = ("k_mm =", "k_inv =")
