"""The cache stands before the costly step, not behind it."""

KIND = "cache before the costly map"

SETUP = """
import numpy as np
import tensorflow as tf

audio = np.random.uniform(-1, 1, (240, 8000)).astype("float32")
commands = np.random.randint(0, 8, 240)

recognizer = tf.keras.Sequential()
recognizer.add(tf.keras.layers.Input((61, 129, 1)))
recognizer.add(tf.keras.layers.Resizing(32, 32))
recognizer.add(tf.keras.layers.Conv2D(8, 3, activation="relu"))
recognizer.add(tf.keras.layers.GlobalAveragePooling2D())
recognizer.add(tf.keras.layers.Dense(8))
recognizer.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
"""

CELL = """
def get_spectrogram(waveform, label):
    frames = tf.signal.stft(waveform, frame_length=255, frame_step=32)
    power = tf.abs(frames)[::4][:61]
    mel = tf.signal.dct(tf.math.log(power + 1e-6), type=2)
    return mel[..., tf.newaxis], label

waveforms = tf.data.Dataset.from_tensor_slices((audio, commands)).cache()
spectrograms = waveforms.map(get_spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
spectrograms = spectrograms.shuffle(240).batch(24).prefetch(tf.data.AUTOTUNE)
recognizer.fit(spectrograms, epochs=5, verbose=0)
"""

FIXED = CELL.replace("(audio, commands)).cache()", "(audio, commands))").replace(
    "num_parallel_calls=tf.data.AUTOTUNE)", "num_parallel_calls=tf.data.AUTOTUNE).cache()"
)

RULES = ("map-repeated-each-epoch",)
PLACES = ("get_spectrogram", ".cache()")
