"""Two networks trained in turn, in one tf.function."""

KIND = "healthy"

SETUP = """
import tensorflow as tf
from tensorflow.keras import layers

BATCH, NOISE = 48, 64
real = tf.data.Dataset.from_tensor_slices(tf.random.uniform((960, 28, 28, 1), -1, 1)).batch(BATCH, True).prefetch(2)

generator = tf.keras.Sequential([
    layers.Input((NOISE,)),
    layers.Dense(7 * 7 * 64), layers.Reshape((7, 7, 64)),
    layers.Conv2DTranspose(48, 5, strides=2, padding="same", activation="relu"),
    layers.Conv2DTranspose(1, 5, strides=2, padding="same", activation="tanh"),
])
discriminator = tf.keras.Sequential([
    layers.Input((28, 28, 1)),
    layers.Conv2D(48, 5, strides=2, padding="same"), layers.LeakyReLU(),
    layers.Conv2D(96, 5, strides=2, padding="same"), layers.LeakyReLU(),
    layers.Flatten(), layers.Dense(1),
])
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
g_opt, d_opt = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)

@tf.function
def train_step(images):
    noise = tf.random.normal([BATCH, NOISE])
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        real_out, fake_out = discriminator(images, training=True), discriminator(fake, training=True)
        g_loss = bce(tf.ones_like(fake_out), fake_out)
        d_loss = bce(tf.ones_like(real_out), real_out) + bce(tf.zeros_like(fake_out), fake_out)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return g_loss, d_loss
"""

CELL = """
def train(dataset, epochs):
    for epoch in range(epochs):
        for image_batch in dataset:
            g_loss, d_loss = train_step(image_batch)
        print(epoch, g_loss.numpy(), d_loss.numpy())

train(real, 1)
"""
