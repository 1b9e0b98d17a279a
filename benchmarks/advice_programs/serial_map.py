"""Photos decoded and resized one by one."""

KIND = "map without num_parallel_calls"

SETUP = """
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

rng = np.random.default_rng(7)
photos = [tf.io.encode_jpeg(rng.integers(0, 255, (224, 224, 3), dtype=np.uint8)).numpy() for _ in range(256)]
labels = rng.integers(0, 5, 256)

model = models.Sequential([
    layers.Input((32, 32, 3)),
    layers.Conv2D(8, 3, strides=2, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(5, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
"""

CELL = """
def decode_photo(jpeg, label):
    image = tf.io.decode_jpeg(jpeg, channels=3)
    image = tf.image.resize(tf.cast(image, tf.float32), (160, 160), method="bicubic")
    image = tf.image.random_crop(image, (128, 128, 3))
    return tf.image.resize(image, (32, 32), method="area") / 255.0, label

train_ds = (tf.data.Dataset.from_tensor_slices((photos, labels))
            .shuffle(256)
            .repeat(5)
            .map(decode_photo)
            .batch(32)
            .prefetch(tf.data.AUTOTUNE))

history = model.fit(train_ds, epochs=1, verbose=0)
"""

FIXED = CELL.replace(".map(decode_photo)", ".map(decode_photo, num_parallel_calls=tf.data.AUTOTUNE)")

RULES = ("sequential-map",)
PLACES = ("decode_photo",)
