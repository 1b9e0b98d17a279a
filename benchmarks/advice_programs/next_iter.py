"""A batch taken with next(iter(...)) in each training step."""

KIND = "a new iterator for each batch"

SETUP = """
import numpy as np
import tensorflow as tf

xs = np.random.rand(20000, 100).astype(np.float32)
ys = xs.sum(1, keepdims=True)
W1 = tf.Variable(tf.random.normal((100, 64), stddev=.1))
b1 = tf.Variable(tf.zeros(64))
W2 = tf.Variable(tf.random.normal((64, 1), stddev=.1))
b2 = tf.Variable(tf.zeros(1))
params = [W1, b1, W2, b2]
sgd = tf.keras.optimizers.SGD(1e-4)

@tf.function
def update(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.nn.relu(x @ W1 + b1) @ W2 + b2 - y) ** 2)
    sgd.apply_gradients(zip(tape.gradient(loss, params), params))
    return loss
"""

CELL = """
train_ds = tf.data.Dataset.from_tensor_slices((xs, ys)).shuffle(5000).batch(128)
curve = []
for i in range(200):
    x, y = next(iter(train_ds))
    loss = update(x, y)
    if i % 50 == 0:
        curve.append(float(loss))
print(curve)
"""

FIXED = CELL.replace("curve = []", "curve = []\nit = iter(train_ds.repeat())").replace(
    "next(iter(train_ds))", "next(it)"
)

RULES = ("iterator-per-batch",)
PLACES = ("next(iter(",)
