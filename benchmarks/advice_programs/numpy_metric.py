"""The area under the curve of all predictions so far, in NumPy, after each step."""

KIND = "NumPy metric in each step"

SETUP = """
import numpy as np
import tensorflow as tf

clicks = np.random.RandomState(0).rand(20000, 24).astype("float32")
clicked = (clicks[:, 0] + 0.3 * np.random.RandomState(1).randn(20000) > 0.7).astype("float32")

class Ranker(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = tf.keras.layers.Dense(64, activation="relu")
        self.d2 = tf.keras.layers.Dense(32, activation="relu")
        self.d3 = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.d3(self.d2(self.d1(x)))

ranker = Ranker()
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
sgd = tf.keras.optimizers.SGD(0.05)

@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = ranker(x)[:, 0]
        loss = bce(y, logits)
    gradients = tape.gradient(loss, ranker.trainable_variables)
    sgd.apply_gradients(zip(gradients, ranker.trainable_variables))
    return loss, logits

ds = tf.data.Dataset.from_tensor_slices((clicks, clicked)).batch(100).prefetch(2)
"""

CELL = """
def auc(y_true, scores):
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    positives = y_true.sum()
    return (ranks[y_true == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(scores) - positives))

seen_y, seen_scores, aucs = [], [], []
for x, y in ds:
    loss, logits = train_step(x, y)
    seen_y.append(y.numpy())
    seen_scores.append(logits.numpy())
    aucs.append(auc(np.concatenate(seen_y), np.concatenate(seen_scores)))
"""

FIXED = """
def auc(y_true, scores):
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    positives = y_true.sum()
    return (ranks[y_true == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(scores) - positives))

seen_y, seen_scores = [], []
for x, y in ds:
    loss, logits = train_step(x, y)
    seen_y.append(y.numpy())
    seen_scores.append(logits.numpy())
final = auc(np.concatenate(seen_y), np.concatenate(seen_scores))
"""

RULES = ("python-in-loop",)
PLACES = ("def auc", "aucs.append", "auc")
