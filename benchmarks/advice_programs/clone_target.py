"""A target network that is cloned again after every few updates."""

KIND = "a model cloned again and again"

SETUP = """
import numpy as np, keras, tensorflow as tf

hidden = [keras.layers.Dense(64, activation="relu") for _ in range(4)]
q = keras.Sequential([keras.Input((8,)), *hidden, keras.layers.Dense(4)])
q.compile("adam", "mse")
replay = np.random.randn(4000, 8).astype("float32")
"""

CELL = """
target = keras.models.clone_model(q)
for update in range(120):
    if update % 4 == 0:
        target = keras.models.clone_model(q)
        target.set_weights(q.get_weights())
    s = replay[np.random.randint(0, 4000, 64)]
    y = target(s) * 0.99 + np.random.randn(64, 4)
    q.train_on_batch(s, y)
"""

FIXED = CELL.replace("        target = keras.models.clone_model(q)\n", "")

RULES = ("model-rebuilt-each-step",)
PLACES = ("        target = keras.models.clone_model(q)",)
