"""Pictures that fit in memory ten times over are decoded in each epoch."""

KIND = "no cache, though the data fit in memory"

SETUP = """
import os
import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
os.makedirs("flowers/rose", exist_ok=True)
os.makedirs("flowers/tulip", exist_ok=True)
gen = np.random.default_rng(4)
for n in range(200):
    pixels = gen.integers(0, 256, (150, 150, 3), dtype=np.uint8)
    tf.io.write_file(f"flowers/{['rose', 'tulip'][n % 2]}/{n}.jpg", tf.io.encode_jpeg(pixels))

def process_path(path):
    label = tf.strings.split(path, os.sep)[-2] == "rose"
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(img, (32, 32), antialias=True) / 255.0, label

model = tf.keras.Sequential([
    tf.keras.layers.Input((32, 32, 3)),
    tf.keras.layers.Conv2D(8, 5, strides=2, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))
"""

CELL = """
list_ds = tf.data.Dataset.list_files("flowers/*/*.jpg", shuffle=False)
labeled_ds = list_ds.map(process_path, num_parallel_calls=AUTOTUNE)
train_ds = labeled_ds.shuffle(200).batch(20).prefetch(AUTOTUNE)
history = model.fit(train_ds, epochs=8, verbose=0)
"""

FIXED = CELL.replace("labeled_ds.shuffle", "labeled_ds.cache().shuffle")

RULES = ("map-repeated-each-epoch",)
PLACES = ("process_path", "labeled_ds")
