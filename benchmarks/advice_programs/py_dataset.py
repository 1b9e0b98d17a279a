"""A PyDataset that opens and resizes its pictures anew in each epoch."""

KIND = "PyDataset with a slow __getitem__"

SETUP = """
import glob
import math
import os

import keras
import numpy as np
from PIL import Image

os.makedirs("plants", exist_ok=True)
for i in range(120):
    pixels = np.random.RandomState(i).randint(0, 255, (160, 160, 3)).astype("uint8")
    Image.fromarray(pixels).save(f"plants/{i % 3}_{i:03d}.png")

model = keras.models.Sequential()
model.add(keras.layers.InputLayer(shape=(48, 48, 3)))
model.add(keras.layers.Conv2D(8, (3, 3), activation="relu"))
model.add(keras.layers.MaxPooling2D((4, 4)))
model.add(keras.layers.Flatten())
model.add(keras.layers.Dense(3, activation="softmax"))
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
"""

CELL = """
class PlantImages(keras.utils.PyDataset):
    def __init__(self, paths, batch_size=16, **kwargs):
        super().__init__(**kwargs)
        self.paths = sorted(paths)
        self.batch_size = batch_size

    def __len__(self):
        return math.ceil(len(self.paths) / self.batch_size)

    def __getitem__(self, idx):
        batch = self.paths[idx * self.batch_size:(idx + 1) * self.batch_size]
        images = [np.array(Image.open(p).resize((48, 48), Image.LANCZOS)) / 255.0 for p in batch]
        labels = [int(os.path.basename(p)[0]) for p in batch]
        return np.array(images), np.array(labels)

model.fit(PlantImages(glob.glob("plants/*.png")), epochs=8, verbose=0)
"""

FIXED = """
class PlantImages(keras.utils.PyDataset):
    def __init__(self, paths, batch_size=16, **kwargs):
        super().__init__(**kwargs)
        paths = sorted(paths)
        self.batch_size = batch_size
        self.images = np.array([np.array(Image.open(p).resize((48, 48), Image.LANCZOS)) / 255.0 for p in paths])
        self.labels = np.array([int(os.path.basename(p)[0]) for p in paths])

    def __len__(self):
        return math.ceil(len(self.images) / self.batch_size)

    def __getitem__(self, idx):
        batch = slice(idx * self.batch_size, (idx + 1) * self.batch_size)
        return self.images[batch], self.labels[batch]

model.fit(PlantImages(glob.glob("plants/*.png")), epochs=8, verbose=0)
"""

RULES = ("slow-pydataset", "pydataset-repeated-each-epoch")
PLACES = ("__getitem__", "PlantImages")
