"""A trained model that draws sequences value by value, op by op, after `fit`."""

KIND = "a loop after training whose ops run one by one"

SETUP = """
import keras
import tensorflow as tf
from tensorflow.keras import layers

keras.utils.set_random_seed(2)
notes = tf.random.uniform((1200, 24), maxval=40, dtype=tf.int32)
data = tf.data.Dataset.from_tensor_slices((notes[:, :-1], notes[:, 1:])).batch(100).prefetch(2)


class Melody(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(40, 24)
        self.mix = [layers.Dense(48, activation="gelu") for _ in range(4)]
        self.norm = [layers.LayerNormalization() for _ in range(4)]
        self.out = layers.Dense(40)

    def call(self, played):
        h = self.embed(played)
        for mix, norm in zip(self.mix, self.norm):
            h = norm(mix(h))
        return self.out(h)


model = Melody()
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data, epochs=1, verbose=0)


def next_note(played, temperature):
    logits = model(played)[:, -1] / temperature
    drawn = tf.random.categorical(logits, 1, dtype=tf.int32)
    return tf.concat([played[:, 1:], drawn], axis=1)


traced_next_note = tf.function(next_note)
"""

CELL = """
model.fit(data, epochs=2, verbose=0)
played = notes[:16, :8]
for _ in range(250):
    played = next_note(played, tf.constant(0.8))
"""

FIXED = """
model.fit(data, epochs=2, verbose=0)
played = notes[:16, :8]
for _ in range(250):
    played = traced_next_note(played, tf.constant(0.8))
"""

RULES = ("eager-outside-steps",)
PLACES = ("def next_note",)
