"""A PyDataset is named by its class and method, with and without workers."""

import time
from pathlib import Path

import keras
import numpy as np
import pytest


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


def by_workers(model):
    model.fit(Scans(workers=2), verbose=0)


@pytest.mark.parametrize(
    ("program", "change"),
    [
        (one_by_one, "model.fit(Scans(workers=4, max_queue_size=16), verbose=0)"),
        (by_workers, "model.fit(Scans(workers=4), verbose=0)"),
    ],
)
def test_the_method_that_makes_the_batches_is_named(advised, place_of, the_one, program, change):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found = the_one(advised(lambda: program(model)), "Steps wait for their data: Scans.__getitem__ waits for a disk")
    assert found["change"] == change
    assert found["place"] == place_of(program, "Scans(")
    assert f"({place_of(Scans, 'time.sleep')})" in found["evidence"]


def test_a_file_below_the_working_folder_is_named_from_there(advised, place_of, the_one, monkeypatch):
    monkeypatch.chdir(Path(__file__).parent)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found = the_one(advised(lambda: one_by_one(model)), "Steps wait for their data")
    assert found["place"].startswith("test_py_dataset_advice.py line ")
