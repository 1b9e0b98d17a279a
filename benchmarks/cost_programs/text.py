"""A text classifier that vectorizes in its pipeline."""

import keras
import numpy as np
import tensorflow as tf

words = np.array([f"word{number}" for number in range(2000)])
texts = [" ".join(np.random.choice(words, 60)) for _ in range(4000)]
vectorize = keras.layers.TextVectorization(2000, output_sequence_length=60)
vectorize.adapt(texts)
data = tf.data.Dataset.from_tensor_slices((texts, np.random.randint(0, 2, 4000)))
data = (
    data.shuffle(4000).batch(32).map(lambda text, label: (vectorize(text), label), num_parallel_calls=tf.data.AUTOTUNE)
)
model = keras.Sequential(
    [keras.layers.Embedding(2000, 32), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1, "sigmoid")]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])


def cell():
    model.fit(data.prefetch(2), epochs=6, verbose=0)
