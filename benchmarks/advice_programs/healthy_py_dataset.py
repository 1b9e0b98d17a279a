"""A PyDataset that only cuts batches out of arrays."""

KIND = "healthy"

SETUP = """
import keras
import numpy as np

class Slices(keras.utils.PyDataset):
    def __init__(self, volumes, targets, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.volumes, self.targets, self.batch_size = volumes, targets, batch_size

    def __len__(self):
        return len(self.volumes) // self.batch_size

    def __getitem__(self, index):
        rows = slice(index * self.batch_size, (index + 1) * self.batch_size)
        return self.volumes[rows], self.targets[rows]

volumes = np.random.rand(96, 16, 24, 24, 1).astype("float32")
targets = np.random.rand(96, 1).astype("float32")
unet = keras.Sequential([
    keras.layers.Input((16, 24, 24, 1)),
    keras.layers.Conv3D(16, 3, activation="relu"),
    keras.layers.Conv3D(24, 3, activation="relu"),
    keras.layers.GlobalAveragePooling3D(),
    keras.layers.Dense(1),
])
unet.compile("adam", "mse")
"""

CELL = """
unet.fit(Slices(volumes, targets, 8, workers=1), epochs=2, verbose=0)
"""
