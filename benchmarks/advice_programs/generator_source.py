"""Spectra of a signal computed by a generator, one example at a time."""

KIND = "generator as the source"

SETUP = """
import numpy as np
import tensorflow as tf

signal = np.sin(np.linspace(0, 4000, 40_000)) + 0.1 * np.random.randn(40_000)
window = np.hanning(256)
detector = tf.keras.Sequential([
    tf.keras.layers.Input(shape=(129,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(2, activation="softmax"),
])
detector.compile(loss="sparse_categorical_crossentropy", optimizer="rmsprop")
"""

CELL = """
def spectra():
    for start in range(0, len(signal) - 256, 20):
        piece = signal[start:start + 256] * window
        power = np.abs(np.fft.rfft(piece)) ** 2
        power = 10 * np.log10(power + 1e-9)
        power = (power - power.mean()) / (power.std() + 1e-6)
        yield power.astype("float32"), int(signal[start] > 0)

spec = (tf.TensorSpec((129,), tf.float32), tf.TensorSpec((), tf.int32))
data = tf.data.Dataset.from_generator(spectra, output_signature=spec).batch(50).prefetch(4)
detector.fit(data, epochs=2, verbose=0)
"""

FIXED = """
def spectra():
    pieces = np.lib.stride_tricks.sliding_window_view(signal[:-1], 256)[::20] * window
    power = 10 * np.log10(np.abs(np.fft.rfft(pieces)) ** 2 + 1e-9)
    power = (power - power.mean(axis=1, keepdims=True)) / (power.std(axis=1, keepdims=True) + 1e-6)
    return power.astype("float32"), (signal[:-256:20] > 0).astype("int32")[:len(pieces)]

data = tf.data.Dataset.from_tensor_slices(spectra()).batch(50).prefetch(4)
detector.fit(data, epochs=2, verbose=0)
"""

RULES = ("slow-generator", "python-repeated-each-epoch")
PLACES = ("spectra",)
