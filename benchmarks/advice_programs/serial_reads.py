"""Scans fetched from slow storage one after another."""

KIND = "slow reads in a map without num_parallel_calls"

SETUP = """
import time
import numpy as np
import tensorflow as tf

store = {f"scan_{i}": np.random.rand(24, 24).astype("float32") for i in range(200)}

def download(key):
    time.sleep(0.006)  # the store's answer takes this long
    return store[key.decode()]

segmenter = tf.keras.Sequential([
    tf.keras.layers.Input((24, 24)),
    tf.keras.layers.Reshape((24, 24, 1)),
    tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
    tf.keras.layers.Conv2D(1, 3, padding="same"),
    tf.keras.layers.Reshape((24, 24)),
])
segmenter.compile(optimizer="adam", loss="mse")
"""

CELL = """
def load_scan(key):
    scan = tf.numpy_function(download, [key], tf.float32)
    scan = tf.ensure_shape(scan, (24, 24))
    return scan, scan

scans = tf.data.Dataset.from_tensor_slices(sorted(store))
scans = scans.map(load_scan).batch(10).prefetch(2)
segmenter.fit(scans, epochs=2, verbose=0)
"""

FIXED = CELL.replace(".map(load_scan)", ".map(load_scan, num_parallel_calls=16)")

RULES = ("python-map",)
PLACES = ("load_scan", "download")
