"""Models that are loaded again and again, or trained though they are frozen."""

import keras
import numpy as np

from programs import Cells, program


@program
def loaded_in_loop():
    keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)]).save("small.keras")
    days = np.ones((8, 16, 8), "float32")

    def forecast(rows):
        model = keras.models.load_model("small.keras")
        return model(rows).numpy()

    return lambda: [forecast(rows) for rows in days]


@program
def loaded_once():
    keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)]).save("once.keras")
    days = np.ones((80, 16, 8), "float32")

    def run():
        model = keras.models.load_model("once.keras")
        return [model.predict_on_batch(rows) for rows in days]

    return run


GAN = """real = np.random.default_rng(0).normal(size=(64, 16)).astype("float32")
D = keras.Sequential([keras.Input((16,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(1, "sigmoid")])
D.compile("adam", "binary_crossentropy")
G = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16)])
D.trainable = False
both = keras.Sequential([G, D])
both.compile("adam", "binary_crossentropy")"""
PLAY = """noise = np.random.default_rng(1).normal(size=(64, 4)).astype("float32")
for _ in range(40):
    D.train_on_batch(real, np.ones((64, 1)))
    D.train_on_batch(G.predict_on_batch(noise), np.zeros((64, 1)))
    both.train_on_batch(noise, np.ones((64, 1)))"""
frozen_discriminator = Cells(GAN, PLAY)
THAWED = PLAY.replace("    D.train", "    D.trainable = True\n    D.train", 1)
thawed_discriminator = Cells(GAN, THAWED.replace("    both", "    D.trainable = False\n    both"))

CLIENTS = """class Net:
    @staticmethod
    def build(units):
        hidden = [keras.layers.Dense(units) for _ in range(6)]
        return keras.Sequential([keras.Input((16,)), *hidden, keras.layers.Dense(1)])
together = Net().build(16)
clients = np.random.default_rng(0).normal(size=(5, 64, 16)).astype("float32")
right = np.ones((64, 1), "float32")"""
ROUND = """weights = together.get_weights()
for rows in clients:
    maker = Net()
    local = maker.build(16)
    local.compile("sgd", "mse")
    local.set_weights(weights)
    local.fit(rows, right, verbose=0)
    keras.backend.clear_session()"""
rebuilt_for_each_client = Cells(CLIENTS, ROUND)
