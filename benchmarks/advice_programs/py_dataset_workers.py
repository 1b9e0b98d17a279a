"""A PyDataset that asks a slow store for each batch, with too few workers."""

KIND = "PyDataset with too few workers"

SETUP = """
import time

import keras
import numpy as np

class Store:
    def fetch(self, key):
        time.sleep(0.03)
        return np.random.default_rng(key).random((32, 50), "float32")

store = Store()
head = keras.Sequential([keras.layers.Input((50,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(1)])
head.compile("adam", "mse")
"""

CELL = """
class StoredRows(keras.utils.PyDataset):
    def __init__(self, count, **options):
        super().__init__(**options)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        rows = store.fetch(index)
        return rows, rows.mean(axis=1)

head.fit(StoredRows(60, workers=2), epochs=2, verbose=0)
"""

FIXED = CELL.replace("workers=2", "workers=8")

RULES = ("slow-pydataset",)
PLACES = ("StoredRows(", "time.sleep", "__getitem__")
