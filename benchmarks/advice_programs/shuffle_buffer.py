"""Each short epoch first fills a shuffle buffer with all decoded pictures."""

KIND = "huge shuffle buffer, filled at each epoch's start"

SETUP = """
import numpy as np
import tensorflow as tf

pngs = [tf.io.encode_png(np.random.randint(0, 256, (40, 40, 3), np.uint8)).numpy() for _ in range(300)]

class Tagger(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = tf.keras.layers.Conv2D(16, 3, activation="relu")
        self.pool = tf.keras.layers.GlobalAveragePooling2D()
        self.out = tf.keras.layers.Dense(8)

    def call(self, x):
        return self.out(self.pool(self.conv(x)))

tagger = Tagger()
optimizer = tf.keras.optimizers.Adam(1e-3)
mse = tf.keras.losses.MeanSquaredError()

@tf.function
def train_batch(images):
    with tf.GradientTape() as tape:
        loss = mse(tf.zeros((tf.shape(images)[0], 8)), tagger(images))
    grads = tape.gradient(loss, tagger.trainable_weights)
    optimizer.apply_gradients(zip(grads, tagger.trainable_weights))
    return loss
"""

CELL = """
def decode(png):
    return tf.cast(tf.io.decode_png(png, channels=3), tf.float32) / 255.

pictures = (tf.data.Dataset.from_tensor_slices(pngs)
    .repeat(40)
    .map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    .shuffle(10000)
    .batch(25)
    .prefetch(tf.data.AUTOTUNE))

for epoch in range(4):
    for images in pictures.take(20):
        loss = train_batch(images)
    print(f"epoch {epoch}: {loss:.4f}")
"""

FIXED = CELL.replace("    .shuffle(10000)\n", "").replace("    .repeat(40)\n", "    .repeat(40)\n    .shuffle(10000)\n")

RULES = ("shuffle-after-map",)
PLACES = (".shuffle(",)
