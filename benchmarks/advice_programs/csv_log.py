"""A frame of results grows by a row and is written out after each train_on_batch."""

KIND = "log written after each batch"

SETUP = """
import numpy as np
import pandas as pd
from tensorflow.keras import layers, Sequential

rng = np.random.RandomState(42)
real = rng.normal(size=(12800, 30))
target = (real.sum(axis=1) > 0).astype(int)

discriminator = Sequential([
    layers.Input((30,)),
    layers.Dense(64), layers.LeakyReLU(), layers.Dropout(0.3),
    layers.Dense(1, activation="sigmoid"),
])
discriminator.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
"""

CELL = """
batch_size = 64
log = pd.DataFrame(columns=["step", "loss", "accuracy"])
order = rng.permutation(len(real))

for step in range(len(real) // batch_size):
    rows = order[step * batch_size:(step + 1) * batch_size]
    loss, acc = discriminator.train_on_batch(real[rows], target[rows])
    log.loc[len(log)] = [step, float(loss), float(acc)]
    log.to_csv("training_log.csv", index=False)
"""

FIXED = """
batch_size = 64
log = []
order = rng.permutation(len(real))

for step in range(len(real) // batch_size):
    rows = order[step * batch_size:(step + 1) * batch_size]
    loss, acc = discriminator.train_on_batch(real[rows], target[rows])
    log.append({"step": step, "loss": float(loss), "accuracy": float(acc)})
pd.DataFrame(log).to_csv("training_log.csv", index=False)
"""

RULES = ("python-in-loop",)
PLACES = ("log.to_csv", "log.loc")
