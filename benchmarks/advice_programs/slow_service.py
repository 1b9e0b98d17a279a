"""Each batch comes from a slow service while the model waits."""

KIND = "the loop waits for a slow service"

SETUP = """
import time
from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import tensorflow as tf

class FeatureStore:
    # Stands for a database that answers after a while.
    def __init__(self, latency=0.025):
        self.latency = latency
        self.rng = np.random.default_rng(0)

    def fetch_batch(self, size):
        time.sleep(self.latency)
        x = self.rng.normal(size=(size, 128)).astype("float32")
        return x, x[:, :1] ** 2

store = FeatureStore()
hidden = [keras.layers.Dense(512, "relu") for _ in range(4)]
model = keras.Sequential([keras.Input((128,)), *hidden, keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()

@tf.function
def train_on(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss
"""

CELL = """
for step in range(60):
    x, y = store.fetch_batch(128)
    loss = train_on(tf.constant(x), tf.constant(y))
"""

FIXED = """
with ThreadPoolExecutor(1) as pool:
    coming = pool.submit(store.fetch_batch, 128)
    for step in range(60):
        x, y = coming.result()
        coming = pool.submit(store.fetch_batch, 128)
        loss = train_on(tf.constant(x), tf.constant(y))
"""

RULES = ("python-in-loop",)
PLACES = ("fetch_batch",)
