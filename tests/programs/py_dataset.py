"""PyDatasets that sleep, compute and draw, with and without workers."""

import time

import keras
import numpy as np

from programs import program

RNG = np.random.default_rng(1)


class Scans(keras.utils.PyDataset):
    def __len__(self):
        return 24

    def read(self):
        time.sleep(0.04)
        return np.zeros((8, 4), "float32")

    def __getitem__(self, index):
        scan = self.read()
        return scan, scan[:, :1]


def one_by_one(model):
    model.fit(Scans(), verbose=0)


class Photos(Scans):
    def read(self):
        return np.sort(np.sin(np.arange(80_000.0))).reshape(-1, 4)[:8].astype("float32")


class Flipped(Photos):
    def __len__(self):
        return 400

    def read(self):
        return super().read()[:: RNG.choice([-1, 1])]

    def __getitem__(self, index):
        scan = self.read()
        return scan, scan[:, :1]


class Few(Photos):
    def __len__(self):
        return 12

    def read(self):
        return super().read()[:: RNG.choice([-1, 1])]

    def __getitem__(self, index):
        scan = self.read()
        return scan, scan[:, :1]


class Drawn(Photos):
    def __getitem__(self, index):
        scan = self.read()
        return scan, scan[:, :1]


def for_epochs(model):
    model.fit(Drawn(), epochs=3, verbose=0)


def flipped_for_epochs(model):
    model.fit(Flipped(), epochs=3, verbose=0)


def few_for_epochs(model):
    model.fit(Few(), epochs=8, verbose=0)


def by_workers(model):
    model.fit(Scans(workers=2), verbose=0)


def model():
    made = keras.Sequential([keras.layers.Dense(1)])
    made.compile("sgd", "mse")
    return made


@program
def sleeping():
    made = model()
    return lambda: one_by_one(made)


@program
def sleeping_workers():
    made = model()
    return lambda: by_workers(made)


@program
def same_in_epochs():
    made = model()
    return lambda: for_epochs(made)


@program
def drawn_in_epochs():
    made = model()
    return lambda: flipped_for_epochs(made)


@program
def short_epochs():
    made = model()
    return lambda: few_for_epochs(made)
