"""Word vectors learned with a softmax over the whole vocabulary."""

KIND = "a softmax over very many classes"

SETUP = """
import numpy as np
import tensorflow as tf
import keras

VOCABULARY, DIM = 50000, 64
centers = np.random.randint(0, VOCABULARY, 2560)
contexts = np.random.randint(0, VOCABULARY, 2560)

class SkipGram(keras.Model):
    def __init__(self):
        super().__init__()
        self.vectors = keras.layers.Embedding(VOCABULARY, DIM)
        self.scores = keras.layers.Dense(VOCABULARY)

    def call(self, words):
        return self.scores(self.vectors(words))
"""

CELL = """
model = SkipGram()
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.SGD(0.1), loss)
model.fit(centers, contexts, batch_size=128, epochs=2, verbose=0)
"""

FIXED = """
vectors = tf.Variable(tf.random.uniform((VOCABULARY, DIM), -0.05, 0.05))
weights, biases = tf.Variable(tf.random.uniform((VOCABULARY, DIM), -0.05, 0.05)), tf.Variable(tf.zeros(VOCABULARY))
optimizer = keras.optimizers.SGD(0.1)

@tf.function
def train_step(words, targets):
    with tf.GradientTape() as tape:
        inputs = tf.nn.embedding_lookup(vectors, words)
        labels = tf.cast(targets, tf.int64)[:, None]
        losses = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, num_sampled=100, num_classes=VOCABULARY)
        loss = tf.reduce_mean(losses)
    variables = [vectors, weights, biases]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss

for epoch in range(2):
    for words, targets in tf.data.Dataset.from_tensor_slices((centers, contexts)).batch(128):
        train_step(words, targets)
"""

RULES = ("softmax-over-many-classes",)
PLACES = ("Dense(VOCABULARY)",)
