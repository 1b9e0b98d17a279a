"""A physics-informed network with nested tapes, as it should be."""

KIND = "healthy"

SETUP = """
import math

import tensorflow as tf

mlp = tf.keras.Sequential([tf.keras.Input((2,)), *(tf.keras.layers.Dense(100, "tanh") for _ in range(4)),
                           tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(1e-3)

@tf.function
def burgers(x, t):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.GradientTape(persistent=True) as inner:
                inner.watch([x, t])
                u = mlp(tf.concat([x, t], 1))
            u_x, u_t = inner.gradient(u, x), inner.gradient(u, t)
        u_xx = tape.gradient(u_x, x)
        loss = tf.reduce_mean((u_t + u * u_x - 0.01 / math.pi * u_xx) ** 2)
    opt.apply_gradients(zip(outer.gradient(loss, mlp.trainable_variables), mlp.trainable_variables))
    return loss
"""

CELL = """
for k in range(40):
    loss = burgers(tf.random.uniform([3000, 1], -1, 1), tf.random.uniform([3000, 1]))
    if k % 20 == 0:
        print(k, float(loss))
"""
