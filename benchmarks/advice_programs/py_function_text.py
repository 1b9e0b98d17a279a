"""Sentences split and looked up in a dict by tf.py_function."""

KIND = "Python in the map (py_function)"

SETUP = """
import random
import re
import tensorflow as tf

random.seed(3)
words = ["w%d" % i for i in range(2000)]
reviews = [" ".join(random.choices(words, k=40)) + " !" for _ in range(3000)]
stars = [random.randint(0, 1) for _ in reviews]
word_index = {w: i + 2 for i, w in enumerate(words)}

classifier = tf.keras.Sequential([
    tf.keras.layers.Embedding(2002, 16),
    tf.keras.layers.GlobalAveragePooling1D(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
classifier.compile("adam", "binary_crossentropy", metrics=["accuracy"])
"""

CELL = """
MAXLEN = 48

def encode_review(text, label):
    tokens = re.findall(r"[a-z0-9]+|[!?.]", text.numpy().decode("utf8").lower())
    ids = [word_index.get(t, 1) for t in tokens][:MAXLEN]
    return ids + [0] * (MAXLEN - len(ids)), label

def encode_in_graph(text, label):
    ids, label = tf.py_function(encode_review, [text, label], [tf.int64, tf.int64])
    return tf.ensure_shape(ids, (MAXLEN,)), tf.ensure_shape(label, ())

dataset = tf.data.Dataset.from_tensor_slices((reviews, tf.constant(stars, tf.int64)))
dataset = dataset.map(encode_in_graph, num_parallel_calls=4).batch(100).prefetch(1)
classifier.fit(dataset, epochs=3, verbose=0)
"""

FIXED = """
MAXLEN = 48
vectorize = tf.keras.layers.TextVectorization(
    vocabulary=words, output_sequence_length=MAXLEN, standardize="lower")
dataset = tf.data.Dataset.from_tensor_slices((reviews, tf.constant(stars, tf.int64)))
dataset = dataset.batch(100).map(lambda t, l: (vectorize(t), l), num_parallel_calls=4).prefetch(1)
classifier.fit(dataset, epochs=3, verbose=0)
"""

RULES = ("python-map", "python-repeated-each-epoch")
PLACES = ("encode_review", "encode_in_graph")
