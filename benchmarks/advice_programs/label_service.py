"""Batches from a (pretended) annotation server, one request after another."""

KIND = "a generator that waits for a service"

SETUP = """
import time

import numpy as np
import tensorflow as tf


class LabelClient:
    # talks to the annotation server

    def __init__(self, host, latency=0.025):
        self.host, self.latency = host, latency
        self.rng = np.random.default_rng(3)

    def _request(self, path):
        time.sleep(self.latency)  # the network
        return {"x": self.rng.normal(size=(32, 80)).tolist(), "y": self.rng.integers(0, 3, 32).tolist()}

    def get(self, page):
        reply = self._request(f"/pages/{page}")
        return np.array(reply["x"], "float32"), np.array(reply["y"], "int32")

client = LabelClient("http://annotations.local")
net = tf.keras.Sequential([
    tf.keras.Input((80,)),
    tf.keras.layers.Dense(128, "relu"),
    tf.keras.layers.Dense(3, "softmax"),
])
net.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
"""

CELL = """
def pages():
    for page in range(30):
        yield client.get(page)

shapes = ((32, 80), (32,))
data = tf.data.Dataset.from_generator(pages, output_types=(tf.float32, tf.int32), output_shapes=shapes)
net.fit(data, epochs=3, verbose=0)
"""

FIXED = "from concurrent.futures import ThreadPoolExecutor\n" + CELL.replace(
    "    for page in range(30):\n        yield client.get(page)",
    "    with ThreadPoolExecutor(8) as pool:\n        yield from pool.map(client.get, range(30))",
)

RULES = ("slow-generator", "python-repeated-each-epoch")
PLACES = ("_request", "get", "client.get(")
