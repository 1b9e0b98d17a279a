"""A bag of words made with one-hot vectors of a large vocabulary."""

KIND = "one-hot vectors multiplied by a matrix"

SETUP = """
import numpy as np, tensorflow as tf

VOCAB = 20000


class BagOfWords(tf.keras.Model):
    def __init__(self, dim=32):
        super().__init__()
        self.proj = tf.keras.layers.Dense(dim, use_bias=False)
        self.hidden = tf.keras.layers.Dense(64, activation="relu")
        self.out = tf.keras.layers.Dense(1)

    def call(self, tokens):
        x = tf.one_hot(tokens, VOCAB)
        x = self.proj(x)
        x = tf.reduce_mean(x, axis=1)
        return self.out(self.hidden(x))

tokens = np.random.randint(0, VOCAB, size=(640, 32))
labels = np.random.randint(0, 2, size=(640, 1)).astype('float32')
"""

CELL = """
clf = BagOfWords()
clf.compile(tf.keras.optimizers.Adam(1e-3), tf.keras.losses.BinaryCrossentropy(from_logits=True))
clf.fit(tokens, labels, batch_size=32, epochs=1)
"""

FIXED = f"""
class EmbeddedWords(BagOfWords):
    def __init__(self, dim=32):
        super().__init__(dim)
        self.proj = tf.keras.layers.Embedding(VOCAB, dim)

    def call(self, tokens):
        x = tf.reduce_mean(self.proj(tokens), axis=1)
        return self.out(self.hidden(x))
{CELL.replace("BagOfWords()", "EmbeddedWords()")}"""

RULES = ("one-hot-matmul",)
PLACES = ("tf.one_hot(", "self.proj(x)")
