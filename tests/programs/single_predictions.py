"""A model that predicts single examples again and again."""

import keras
import numpy as np

from programs import program

MODEL = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
STATE = np.ones((1, 4), "float32")
LARGE = keras.Sequential([keras.Input((512, 512, 32)), *(keras.layers.Conv2D(32, 3) for _ in range(4))])


@program
def play():
    for _ in range(12):
        now = MODEL.predict(STATE, verbose=0)
        then = MODEL.predict(STATE + now.max(), verbose=0)
    return then


@program
def rollouts():
    for _ in range(6):
        for _ in range(4):
            now = MODEL.predict(
                np.reshape(STATE, [1, 4]),  # a batch of one
                verbose=0,
            )
        values = MODEL.predict(np.repeat(now[:, :1], 4, 1).repeat(64, 0), verbose=0)
    return values


@program
def of_large_images():
    image = np.ones((1, 512, 512, 32), "float32")
    for _ in range(10):
        features = LARGE.predict(image, verbose=0)
    return features


@program
def mined():
    MODEL.compile("sgd", "mse")
    many = np.ones((100, 4), "float32")
    for _ in range(6):
        hardest = MODEL.predict(many, verbose=0).argmax(0)
        MODEL.train_on_batch(many[hardest], many[hardest, :2])


@program
def after_generator():
    def batches():
        while True:
            yield np.ones((32, 4), "float32"), np.ones((32, 2), "float32")

    MODEL.compile("sgd", "mse")
    MODEL.fit(batches(), steps_per_epoch=20, verbose=0)
    for _ in range(3):
        MODEL.predict(STATE, verbose=0)
