"""A PyDataset is named by its class and method, with and without workers."""

import time
from pathlib import Path

import keras
import numpy as np
import pytest

RNG = np.random.default_rng(1)


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


class Photos(Scans):
    def read(self):
        return np.sort(np.sin(np.arange(80_000.0))).reshape(-1, 4)[:8].astype("float32")


class Flipped(Photos):
    def __len__(self):
        return 150

    def read(self):
        return super().read()[:: RNG.choice([-1, 1])]

    def __getitem__(self, index):
        scan = self.read()
        return scan, scan[:, :1]


class Few(Photos):
    def __len__(self):
        return 12

    def read(self):
        return super().read()[:: RNG.choice([-1, 1])]

    def __getitem__(self, index):
        scan = self.read()
        return scan, scan[:, :1]


class Drawn(Photos):
    def __getitem__(self, index):
        scan = self.read()
        return scan, scan[:, :1]


def for_epochs(model):
    model.fit(Drawn(), epochs=3, verbose=0)


def flipped_for_epochs(model):
    model.fit(Flipped(), epochs=3, verbose=0)


def few_for_epochs(model):
    model.fit(Few(), epochs=8, verbose=0)


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
    found = the_one(advised(lambda: program(model)), "Steps wait for their data: Scans.__getitem__ sleeps")
    assert found["change"] == change
    assert found["place"] == place_of(program, "Scans(")
    assert f"({place_of(Scans, 'time.sleep')})" in found["evidence"]


def test_batches_that_do_not_change_are_kept_for_all_epochs(advised, place_of, the_one):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found = the_one(advised(lambda: for_epochs(model)), "Steps wait for their data: Drawn.__getitem__ makes the data")
    assert found["finding"].endswith(", anew in each of 3 epochs")
    assert found["change"] == "import functools\n@functools.cache\ndef __getitem__(self, index):"
    assert found["place"] == place_of(Drawn, "def __getitem__")


def test_batches_with_chance_in_them_are_made_by_processes(advised, place_of, the_one):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found = the_one(advised(lambda: flipped_for_epochs(model)), "Steps wait for their data: Flipped.__getitem__ makes")
    assert found["change"] == (
        "model.fit(Flipped(workers=4, use_multiprocessing=True, max_queue_size=16), epochs=3, verbose=0)"
    )
    assert found["place"] == place_of(flipped_for_epochs, "Flipped(")


def test_processes_are_not_advised_where_they_start_for_longer_than_an_epoch_waits(advised, the_one):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found = the_one(advised(lambda: few_for_epochs(model)), "Steps wait for their data: Few.__getitem__ makes the data")
    assert found["fix"].startswith("Do once, in __init__, what each epoch repeats:")
    assert "use_multiprocessing" not in found["fix"]
    assert not found["change"]


def test_a_file_below_the_working_folder_is_named_from_there(advised, place_of, the_one, monkeypatch):
    monkeypatch.chdir(Path(__file__).parent)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found = the_one(advised(lambda: one_by_one(model)), "Steps wait for their data")
    assert found["place"].startswith("test_py_dataset_advice.py line ")
