"""A small network on pictures, with a pipeline as the guides recommend."""

KIND = "healthy"

SETUP = """
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

AUTOTUNE = tf.data.AUTOTUNE
pictures = np.random.randint(0, 256, (640, 48, 48, 3), dtype=np.uint8)
classes = np.random.randint(0, 5, 640)

def prepare(image, label):
    image = tf.image.random_flip_left_right(tf.cast(image, tf.float32) / 255.0)
    return image, label

train_ds = (tf.data.Dataset.from_tensor_slices((pictures, classes))
            .cache()
            .shuffle(640)
            .map(prepare, num_parallel_calls=AUTOTUNE)
            .batch(32)
            .prefetch(AUTOTUNE))

model = tf.keras.Sequential([
    layers.Input((48, 48, 3)),
    layers.Conv2D(32, 3, activation="relu"),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(5, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
"""

CELL = """
history = model.fit(train_ds, epochs=2, verbose=0)
"""
