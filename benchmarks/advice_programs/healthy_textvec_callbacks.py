"""Words cut in a cached pipeline, with TensorBoard and a checkpoint per epoch."""

KIND = "healthy"

SETUP = """
import numpy as np, tensorflow as tf, tempfile

vocab = ["w%d" % i for i in range(3000)]
texts = [" ".join(np.random.choice(vocab, 80)) for _ in range(1600)]
labs = np.random.randint(0, 2, 1600)
logs = tempfile.mkdtemp()
"""

CELL = """
vec = tf.keras.layers.TextVectorization(max_tokens=3000, output_sequence_length=80)
vec.adapt(texts)
ds = tf.data.Dataset.from_tensor_slices((texts, labs)).batch(64)
ds = ds.map(lambda t, l: (vec(t), l), num_parallel_calls=tf.data.AUTOTUNE)
ds = ds.cache().shuffle(50).prefetch(tf.data.AUTOTUNE)
clf = tf.keras.Sequential([
    tf.keras.layers.Embedding(3000, 64),
    tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(48)),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
clf.compile("adam", "binary_crossentropy", metrics=["accuracy"])
saved = tf.keras.callbacks.ModelCheckpoint(logs + "/m.keras")
clf.fit(ds, epochs=3, verbose=0, callbacks=[tf.keras.callbacks.TensorBoard(logs), saved])
"""
