"""An exponential moving average taken in a loop over time, within the graph."""

KIND = "many tiny ops: a loop over time"

SETUP = """
import numpy as np
import keras
import tensorflow as tf

prices = np.cumsum(np.random.randn(1600, 400, 4), axis=1).astype("float32")
up = (prices[:, -1, 0] > prices[:, -2, 0]).astype("float32")
"""

CELL = """
@tf.function
def smooth(x, alpha=0.2):
    series = tf.transpose(x, (1, 0, 2))
    states = tf.TensorArray(tf.float32, size=400)
    state = series[0]
    for t in tf.range(400):
        state = alpha * series[t] + (1 - alpha) * state
        states = states.write(t, state)
    return tf.transpose(states.stack(), (1, 0, 2))

model = keras.Sequential([
    keras.Input((400, 4)),
    keras.layers.Lambda(smooth, output_shape=(400, 4)),
    keras.layers.Conv1D(16, 5, strides=5, activation="relu"),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy")
model.fit(prices, up, batch_size=32, epochs=3, verbose=0)
"""

FIXED = """
def smooth(x, alpha=0.2):
    late, early = np.mgrid[:400, :400]
    weights = np.where(late >= early, alpha * (1 - alpha) ** np.maximum(late - early, 0), 0)
    weights[:, 0] /= alpha
    return tf.einsum("te,bef->btf", tf.constant(weights, tf.float32), x)

model = keras.Sequential([
    keras.Input((400, 4)),
    keras.layers.Lambda(smooth, output_shape=(400, 4)),
    keras.layers.Conv1D(16, 5, strides=5, activation="relu"),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy")
model.fit(prices, up, batch_size=32, epochs=3, verbose=0)
"""

RULES = ("many-small-ops", "unrolled-loop")
PLACES = ("smooth",)
