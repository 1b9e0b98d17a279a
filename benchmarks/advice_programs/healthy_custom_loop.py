"""A loop of one's own around a tf.function with large matrices."""

KIND = "healthy"

SETUP = """
import tensorflow as tf

x = tf.random.normal((8192, 512))
y = tf.random.normal((8192, 10))
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(256, drop_remainder=True).prefetch(2)

W = [tf.Variable(tf.random.normal(s, stddev=0.03)) for s in [(512, 1024), (1024, 1024), (1024, 10)]]
opt = tf.keras.optimizers.SGD(0.01, momentum=0.9)
opt.build(W)

@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(xb @ W[0])
        h = tf.nn.relu(h @ W[1])
        loss = tf.reduce_mean(tf.square(h @ W[2] - yb))
    opt.apply_gradients(zip(tape.gradient(loss, W), W))
    return loss
"""

CELL = """
for epoch in range(2):
    total = 0.0
    for xb, yb in dataset:
        total += train_step(xb, yb)
    print(f"epoch {epoch}: loss {float(total) / 32:.4f}")
"""
