"""A physics-informed network whose second derivative is the diagonal of a Jacobian of all points by all points."""

KIND = "a Jacobian of the whole batch for its diagonal"

SETUP = """
import numpy as np
import tensorflow as tf

N_POINTS = 256
u_net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(32, "tanh"), tf.keras.layers.Dense(32, "tanh"),
                             tf.keras.layers.Dense(1)])
adam = tf.keras.optimizers.Adam(1e-3)
adam.build(u_net.trainable_variables)

@tf.function
def pde_step(x):
    # Poisson: u'' = sin(pi x)
    with tf.GradientTape() as tape:
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                u = u_net(x)
            u_x = t1.gradient(u, x)
        hess = t2.jacobian(u_x, x)
        u_xx = tf.linalg.diag_part(hess[:, 0, :, 0])[:, None]
        loss = tf.reduce_mean((u_xx - tf.sin(np.pi * x)) ** 2)
    grads = tape.gradient(loss, u_net.trainable_variables)
    adam.apply_gradients(zip(grads, u_net.trainable_variables))
    return loss
"""

CELL = """
for it in range(50):
    loss = pde_step(tf.random.uniform((N_POINTS, 1)))
print("residual", loss.numpy())
"""

FIXED = """
@tf.function
def fast_step(x):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                u = u_net(x)
            u_x = t1.gradient(u, x)
        u_xx = t2.gradient(u_x, x)
        loss = tf.reduce_mean((u_xx - tf.sin(np.pi * x)) ** 2)
    grads = tape.gradient(loss, u_net.trainable_variables)
    adam.apply_gradients(zip(grads, u_net.trainable_variables))
    return loss

for it in range(50):
    loss = fast_step(tf.random.uniform((N_POINTS, 1)))
print("residual", loss.numpy())
"""

RULES = ("batch-jacobian",)
PLACES = ("hess = t2.jacobian",)
