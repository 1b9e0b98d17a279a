"""Loops of one cell whose ops run one by one."""

from programs import Cells

SETUP = """rows = np.random.default_rng(0).normal(size=(40, 16, 8)).astype("float32")
weights, shift = tf.Variable(tf.ones((8, 8))), tf.Variable(tf.zeros((8,)))"""
TWO = """for x in rows:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ weights + shift) ** 2)
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
for x in rows:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ weights + shift) ** 2)
    shift.assign_sub(0.1 * tape.gradient(loss, shift))"""
two = Cells(SETUP, TWO)
