"""A generator that augments each picture with TensorFlow's ops, which run one by one there."""

KIND = "eager ops in a generator"

SETUP = """
import keras
import numpy as np
import tensorflow as tf

raw = np.random.randint(0, 255, (300, 100, 100, 3)).astype("uint8")
labels = np.random.randint(0, 2, 300)

def augmented():
    while True:
        for img, lab in zip(raw, labels):
            img = tf.image.convert_image_dtype(img, tf.float32)
            img = tf.image.random_flip_left_right(img)
            img = tf.image.random_brightness(img, 0.2)
            img = tf.image.random_contrast(img, 0.8, 1.2)
            img = tf.image.resize(img, (64, 64))
            yield img.numpy(), lab

def batches(size=30):
    it = augmented()
    while True:
        pairs = [next(it) for _ in range(size)]
        yield np.stack([p[0] for p in pairs]), np.array([p[1] for p in pairs])
"""

CELL = """
conv = keras.layers.Conv2D(8, 3, strides=2, activation="relu")
net = keras.Sequential([conv, keras.layers.GlobalMaxPooling2D(), keras.layers.Dense(1, "sigmoid")])
net.compile("adam", "binary_crossentropy")
net.fit(batches(), steps_per_epoch=10, epochs=3, verbose=0)
"""

FIXED = """
def one(img, lab):
    img = tf.image.convert_image_dtype(img, tf.float32)
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_brightness(img, 0.2)
    img = tf.image.random_contrast(img, 0.8, 1.2)
    return tf.image.resize(img, (64, 64)), lab

conv = keras.layers.Conv2D(8, 3, strides=2, activation="relu")
net = keras.Sequential([conv, keras.layers.GlobalMaxPooling2D(), keras.layers.Dense(1, "sigmoid")])
net.compile("adam", "binary_crossentropy")
data = tf.data.Dataset.from_tensor_slices((raw, labels)).repeat().map(one, tf.data.AUTOTUNE).batch(30).prefetch(2)
net.fit(data, steps_per_epoch=10, epochs=3, verbose=0)
"""

RULES = ("eager-ops-in-input",)
PLACES = ("augmented",)
