"""Cross-validation with a new model for each fold, which must trace its own step."""

KIND = "healthy"

SETUP = """
import numpy as np, keras
from keras import layers

X = np.random.rand(4000, 60).astype("float32")
y = np.random.rand(4000, 1).astype("float32")

def make():
    hidden = [layers.Dense(512, activation="relu") for _ in range(2)]
    m = keras.Sequential([layers.Input((60,)), *hidden, layers.Dense(1)])
    m.compile("adam", "mse")
    return m
"""

CELL = """
scores = []
folds = np.array_split(np.random.permutation(4000), 4)
for k in range(4):
    val = folds[k]
    tr = np.concatenate([folds[j] for j in range(4) if j != k])
    m = make()
    m.fit(X[tr], y[tr], batch_size=250, epochs=6, verbose=0)
    scores.append(m.evaluate(X[val], y[val], batch_size=500, verbose=0))
print(np.mean(scores))
"""
