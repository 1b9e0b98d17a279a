"""Learning from a replay memory in one tf.function; the target network follows every 100 updates."""

KIND = "healthy"

SETUP = """
import numpy as np, tensorflow as tf
L = tf.keras.layers

def mk():
    return tf.keras.Sequential([tf.keras.Input((32,)), L.Dense(512, "relu"), L.Dense(512, "relu"), L.Dense(5)])

on, tg = mk(), mk()
tg.set_weights(on.get_weights())
opt = tf.keras.optimizers.Adam(1e-4)
mem = np.random.randn(20000, 32).astype("float32")
rew = np.random.randn(20000).astype("float32")
"""

CELL = """
@tf.function
def learn(s, s2, r):
    y = r + 0.99 * tf.reduce_max(tg(s2), 1)
    with tf.GradientTape() as t:
        loss = tf.reduce_mean(tf.keras.losses.huber(y[:, None], tf.reduce_max(on(s), 1)[:, None]))
    opt.apply_gradients(zip(t.gradient(loss, on.trainable_variables), on.trainable_variables))
    return loss

for u in range(150):
    i = np.random.randint(0, 19999, 512)
    loss = learn(mem[i], mem[i + 1], rew[i])
    if u % 100 == 0:
        tg.set_weights(on.get_weights())
        print(u, float(loss))
"""
