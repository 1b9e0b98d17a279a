"""Spectrograms in a dataset with a cache that is built anew in each epoch."""

KIND = "a cached dataset built anew in each epoch"

SETUP = """
import numpy as np, keras
import tensorflow as tf

def _spectrogram(wave, label):
    s = tf.abs(tf.signal.stft(wave, 255, 128))
    mel = tf.signal.linear_to_mel_weight_matrix(32, 129, 8000)
    return tf.math.log(tf.matmul(s, mel) + 1e-6)[..., tf.newaxis], label


def build(waves, labels, batch_size, seed):
    ds = tf.data.Dataset.from_tensor_slices((waves, labels))
    ds = ds.map(_spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.cache()
    ds = ds.shuffle(len(waves), seed=seed)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)

waves = np.random.randn(1200, 8000).astype("float32")
labels = np.random.randint(0, 8, 1200)
speech = keras.Sequential([
    keras.Input((61, 32, 1)),
    keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(8),
])
speech.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
"""

CELL = """
for epoch in range(5):
    train = build(waves, labels, 40, seed=epoch)
    h = speech.fit(train, epochs=1, verbose=0)
    print(epoch, h.history["loss"][0])
"""

FIXED = """
train = build(waves, labels, 40, seed=0)
for epoch in range(5):
    h = speech.fit(train, epochs=1, verbose=0)
    print(epoch, h.history["loss"][0])
"""

RULES = ("dataset-rebuilt",)
PLACES = ("build", ".cache(")
