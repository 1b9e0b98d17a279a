"""A variational autoencoder with a train_step of its own, trained by fit."""

KIND = "healthy"

SETUP = """
import numpy as np
import tensorflow as tf
import keras
from keras import layers

class Sampling(layers.Layer):
    def call(self, inputs):
        mean, log_var = inputs
        return mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))

class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.Sequential([
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
            layers.Flatten(),
        ])
        self.mean, self.log_var, self.sampling = layers.Dense(8), layers.Dense(8), Sampling()
        self.decoder = keras.Sequential([
            layers.Dense(7 * 7 * 64, activation="relu"),
            layers.Reshape((7, 7, 64)),
            layers.Conv2DTranspose(64, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(1, 3, padding="same", activation="sigmoid"),
        ])
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def train_step(self, data):
        with tf.GradientTape() as tape:
            h = self.hidden(data)
            mean, log_var = self.mean(h), self.log_var(h)
            rebuilt = self.decoder(self.sampling((mean, log_var)))
            likelihood = tf.reduce_mean(tf.reduce_sum(keras.losses.binary_crossentropy(data, rebuilt), axis=(1, 2)))
            kl = -0.5 * tf.reduce_mean(1 + log_var - tf.square(mean) - tf.exp(log_var))
            loss = likelihood + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

digits = np.random.rand(1280, 28, 28, 1).astype("float32")
vae = VAE()
vae.compile(optimizer=keras.optimizers.Adam())
"""

CELL = """
vae.fit(digits, epochs=1, batch_size=64, verbose=0)
"""
