"""Windows of a time series made by window() and flat_map(), each a dataset of its own."""

KIND = "windows made one dataset each"

SETUP = """
import numpy as np
import tensorflow as tf

time = np.arange(2600, dtype="float32")
series = 10 + 0.05 * time + 40 * np.sin(2 * np.pi * time / 365) + np.random.randn(2600).astype("float32")
window_size, batch_size = 30, 32

forecaster = tf.keras.models.Sequential([
    tf.keras.layers.Input((window_size,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(1),
])
forecaster.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(1e-6, momentum=0.9))
"""

CELL = """
def windowed_dataset(series, window_size, batch_size, shuffle_buffer):
    ds = tf.data.Dataset.from_tensor_slices(series)
    ds = ds.window(window_size + 1, shift=1, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(window_size + 1))
    ds = ds.shuffle(shuffle_buffer)
    ds = ds.map(lambda w: (w[:-1], w[-1]))
    return ds.batch(batch_size).prefetch(1)

dataset = windowed_dataset(series, window_size, batch_size, 500)
forecaster.fit(dataset, epochs=4, verbose=0)
"""

FIXED = """
windows = np.lib.stride_tricks.sliding_window_view(series, window_size + 1)
dataset = tf.data.Dataset.from_tensor_slices((windows[:, :-1], windows[:, -1]))
dataset = dataset.shuffle(500).batch(batch_size).prefetch(1)
forecaster.fit(dataset, epochs=4, verbose=0)
"""

RULES = ("dataset-per-window",)
PLACES = (".window(", ".flat_map(", "windowed_dataset")
