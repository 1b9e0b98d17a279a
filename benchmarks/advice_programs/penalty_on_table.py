"""A penalty on all rows of a large embedding, of which a batch uses few."""

KIND = "a regularizer on a large embedding"

SETUP = """
import numpy as np
import keras

USERS, ITEMS = 100000, 20000
users, items = np.random.randint(0, USERS, 6400), np.random.randint(0, ITEMS, 6400)
ratings = np.random.rand(6400).astype("float32")
"""

CELL = """
user, item = keras.Input((), dtype="int32"), keras.Input((), dtype="int32")
of_user = keras.layers.Embedding(USERS, 32, embeddings_regularizer=keras.regularizers.l2(1e-6))(user)
of_item = keras.layers.Embedding(ITEMS, 32)(item)
model = keras.Model([user, item], keras.layers.Dot(axes=1)([of_user, of_item]))
model.compile(keras.optimizers.SGD(0.1), "mse")
model.fit([users, items], ratings, batch_size=256, epochs=1, verbose=0)
"""

FIXED = CELL.replace("embeddings_regularizer", "activity_regularizer")

RULES = ("penalty-on-whole-table",)
PLACES = ("embeddings_regularizer=",)
