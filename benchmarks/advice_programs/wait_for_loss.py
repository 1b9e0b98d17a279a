"""TensorFlow runs steps in the background, but each is waited for at once, to keep its loss."""

KIND = "float(loss) waits for each step"

SETUP = """
import time
import numpy as np
import tensorflow as tf

tf.config.experimental.set_synchronous_execution(False)

class Camera:
    # Frames come at a fixed rate.
    def __init__(self, size=64):
        self.frames = np.random.rand(64, size, size, 1).astype(np.float32)

    def read(self, n):
        time.sleep(0.012)
        return self.frames[np.random.randint(0, 64, n)]

camera = Camera()
encoder = tf.keras.Sequential([
    tf.keras.layers.Input((64, 64, 1)),
    tf.keras.layers.Conv2D(16, 5, strides=2, padding="same", activation="relu"),
    tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
    tf.keras.layers.Conv2DTranspose(1, 5, strides=2, padding="same"),
])
opt = tf.keras.optimizers.Adam()

@tf.function
def train(frames):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((encoder(frames, training=True) - frames) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, encoder.trainable_variables), encoder.trainable_variables))
    return loss
"""

CELL = """
losses = []
for step in range(60):
    frames = tf.constant(camera.read(16))
    loss = train(frames)
    losses.append(float(loss))
print("mean loss", np.mean(losses))
"""

FIXED = """
losses = []
for step in range(60):
    frames = tf.constant(camera.read(16))
    losses.append(train(frames))
print("mean loss", np.mean([float(loss) for loss in losses]))
"""

RULES = ("sync-each-step",)
PLACES = ("float(loss)",)
