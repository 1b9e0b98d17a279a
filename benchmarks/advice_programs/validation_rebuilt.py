"""The validation set is read and converted again after each epoch."""

KIND = "validation set rebuilt in each epoch"

SETUP = """
import csv
import random
import numpy as np
from tensorflow import keras

random.seed(8)
with open("valid.csv", "w", newline="") as f:
    out = csv.writer(f)
    for _ in range(20000):
        out.writerow([round(random.gauss(0, 1), 4) for _ in range(25)] + [random.choice(["yes", "no"])])

train_x = np.random.randn(4000, 25)
train_y = np.random.randint(0, 2, 4000)

nn = keras.Sequential([
    keras.layers.Input((25,)),
    keras.layers.Dense(32, activation="selu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
nn.compile("nadam", "binary_crossentropy", metrics=["AUC"])
"""

CELL = """
def load_validation():
    xs, ys = [], []
    with open("valid.csv") as f:
        for row in csv.reader(f):
            xs.append([float(v) for v in row[:-1]])
            ys.append(1 if row[-1] == "yes" else 0)
    return np.array(xs), np.array(ys)

best = 1e9
for epoch in range(4):
    h = nn.fit(train_x, train_y, batch_size=250, epochs=1, validation_data=load_validation(), verbose=0)
    best = min(best, h.history["val_loss"][0])
"""

FIXED = CELL.replace("best = 1e9\n", "best = 1e9\nvalidation = load_validation()\n").replace(
    "validation_data=load_validation()", "validation_data=validation"
)

RULES = ("python-in-loop", "fit-in-loop")
PLACES = ("load_validation",)
