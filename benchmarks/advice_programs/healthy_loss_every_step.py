"""The loss of each step is read at once; on a CPU the step is over by then, so this costs nothing."""

KIND = "healthy"

SETUP = """
import numpy as np
import tensorflow as tf

np.random.seed(0)
noisy = np.random.rand(256, 32, 32, 3).astype(np.float32)

class Denoiser(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.convs = [tf.keras.layers.Conv2D(48, 3, padding="same", activation="relu") for _ in range(3)]
        self.last = tf.keras.layers.Conv2D(3, 3, padding="same")

    def call(self, x):
        h = x
        for conv in self.convs:
            h = conv(h)
        return x - self.last(h)

denoiser = Denoiser()
optimizer = tf.keras.optimizers.Adam(1e-3)

@tf.function
def train_on_batch(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(denoiser(x)))
    g = tape.gradient(loss, denoiser.trainable_variables)
    optimizer.apply_gradients(zip(g, denoiser.trainable_variables))
    return loss
"""

CELL = """
losses = []
for epoch in range(2):
    for start in range(0, len(noisy), 16):
        loss = train_on_batch(tf.convert_to_tensor(noisy[start:start + 16]))
        losses.append(float(loss))
        if start == 0:
            print("epoch", epoch, "loss", loss.numpy())
"""
