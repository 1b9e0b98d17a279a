"""A GAN trained while TensorFlow still checks each op for NaN, as someone asked for in an earlier cell."""

KIND = "checks for NaN left on"

SETUP = """
import tensorflow as tf
tf.debugging.enable_check_numerics()
import numpy as np

L = tf.keras.layers

def dense(*units, last):
    return tf.keras.Sequential([L.Dense(n, "relu") for n in units] + [L.Dense(last)])

class GAN(tf.Module):
    def __init__(self):
        self.G, self.D = dense(128, 128, last=64), dense(128, 128, last=1)
        self.g_opt, self.d_opt = tf.keras.optimizers.SGD(1e-3), tf.keras.optimizers.SGD(1e-3)
        self.step = tf.function(self.step)

    def step(self, real):
        bce = tf.nn.sigmoid_cross_entropy_with_logits
        with tf.GradientTape() as gt, tf.GradientTape() as dt:
            fake = self.G(tf.random.normal([64, 32]))
            r, f = self.D(real), self.D(fake)
            g_loss = tf.reduce_mean(bce(tf.ones_like(f), f))
            d_loss = tf.reduce_mean(bce(tf.ones_like(r), r)) + tf.reduce_mean(bce(tf.zeros_like(f), f))
        self.g_opt.apply_gradients(zip(gt.gradient(g_loss, self.G.trainable_variables), self.G.trainable_variables))
        self.d_opt.apply_gradients(zip(dt.gradient(d_loss, self.D.trainable_variables), self.D.trainable_variables))
        return g_loss, d_loss

real_images = np.random.rand(300, 64, 64).astype("float32")
gan = GAN()
gan.step(tf.constant(real_images[0]))
"""

CELL = """
for real in real_images:
    g_loss, d_loss = gan.step(tf.constant(real))
print(float(g_loss), float(d_loss))
"""

FIXED = """
tf.debugging.disable_check_numerics()
if "clean_gan" not in globals():
    clean_gan = GAN()
for real in real_images:
    g_loss, d_loss = clean_gan.step(tf.constant(real))
print(float(g_loss), float(d_loss))
"""

RULES = ("numeric-checks",)
PLACES = ("enable_check_numerics()",)
