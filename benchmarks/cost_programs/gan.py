"""A GAN: `train_on_batch` of two models in turn."""

import keras
import numpy as np

layers = keras.layers
generator = keras.Sequential([keras.Input((32,)), layers.Dense(128, "relu"), layers.Dense(64)])
discriminator = keras.Sequential([keras.Input((64,)), layers.Dense(128, "relu"), layers.Dense(1, "sigmoid")])
discriminator.compile("adam", "binary_crossentropy")
noise = keras.Input((32,))
judged = keras.Sequential([generator, discriminator])
both = keras.Model(noise, judged(noise))
both.compile("adam", "binary_crossentropy")
real = np.random.rand(256, 64).astype("float32")


def cell():
    for _ in range(150):
        drawn = np.random.rand(256, 32).astype("float32")
        discriminator.train_on_batch(real, np.ones((256, 1)))
        discriminator.train_on_batch(generator(drawn), np.zeros((256, 1)))
        both.train_on_batch(drawn, np.ones((256, 1)))
