"""Heavy augmentation and training take turns: autotuning, which would prefetch, is off to save memory."""

KIND = "no prefetch after heavy augmentation"

SETUP = """
import numpy as np
import tensorflow as tf
from tensorflow import keras

images = np.random.default_rng(0).random((256, 64, 64, 3), dtype="float32")
labels = np.arange(256) % 4

# Reads a picture two rows at a time.
rnn = keras.Sequential([
    keras.layers.Input((64, 64, 3)),
    keras.layers.Reshape((32, 384)),
    keras.layers.GRU(64),
    keras.layers.Dense(4),
])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
opt = keras.optimizers.Adam()

@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, rnn(x, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, rnn.trainable_variables), rnn.trainable_variables))
    return loss
"""

CELL = """
def augment(x, y):
    x = tf.image.random_flip_left_right(x)
    size = tf.random.uniform((), 150, 170, tf.int32)
    x = tf.image.resize(x, (size, size), method="bicubic")
    return tf.image.random_crop(x, (tf.shape(x)[0], 64, 64, 3)), y

options = tf.data.Options()
options.autotune.enabled = False  # keeps memory low

train = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(256).repeat(12)
train = train.batch(32).map(augment).with_options(options)

for x, y in train:
    loss = train_step(x, y)
print("loss", loss.numpy())
"""

FIXED = CELL.replace(".map(augment)", ".map(augment).prefetch(2)")

RULES = ("no-prefetch",)
PLACES = ("augment", "batch(32)", "for x, y in train")
