"""A small transformer that predicts the next token, subclassed layers, fit."""

KIND = "healthy"

SETUP = """
import numpy as np
import keras
from keras import layers, ops

VOCAB, LENGTH, DIM = 800, 64, 96

class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = layers.MultiHeadAttention(heads, dim // heads)
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.ffn = keras.Sequential([layers.Dense(4 * dim, activation="gelu"), layers.Dense(dim)])

    def call(self, x):
        x = x + self.attention(self.norm1(x), self.norm1(x), use_causal_mask=True)
        return x + self.ffn(self.norm2(x))

tokens = keras.Input((LENGTH,), dtype="int32")
x = layers.Embedding(VOCAB, DIM)(tokens)
x = x + layers.Embedding(LENGTH, DIM)(ops.arange(LENGTH))
for _ in range(2):
    x = Block(DIM, 4)(x)
gpt = keras.Model(tokens, layers.Dense(VOCAB)(x))
gpt.compile("adamw", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
text = np.random.randint(0, VOCAB, (480, LENGTH + 1))
"""

CELL = """
gpt.fit(text[:, :-1], text[:, 1:], batch_size=16, epochs=1, verbose=0)
"""
