"""A PyDataset is named by its class and method, with and without workers."""

import gzip
import json

import pytest

import tfprof_nb as tp
from tfprof_nb.formats.files import sidecar_of

FILE = "tests/programs/py_dataset.py"


@pytest.fixture
def with_cores(captured, tmp_path):
    """Return a recorded profile as if its machine had some number of cores."""

    def of(name, cores):
        (profile,) = captured(name).files
        file = tmp_path / profile.name
        file.write_bytes(profile.read_bytes())
        beside = json.loads(gzip.decompress(sidecar_of(profile).read_bytes()))
        beside["machine_load"]["processors"] = cores
        sidecar_of(file).write_bytes(gzip.compress(json.dumps(beside).encode()))
        return tp.load(file)

    return of


@pytest.mark.parametrize(
    ("recorded", "function", "change"),
    [
        ("py_dataset/sleeping", "one_by_one", "model.fit(Scans(workers=4, max_queue_size=16), verbose=0)"),
        ("py_dataset/sleeping_workers", "by_workers", "model.fit(Scans(workers=4), verbose=0)"),
    ],
)
def test_the_method_that_makes_the_batches_is_named(advised, place_of, the_one, recorded, function, change):
    found = the_one(advised(recorded), "slow-pydataset")
    assert found["finding"].startswith("Steps wait for their data: Scans.__getitem__ sleeps")
    assert found["change"] == change
    assert found["place"] == place_of(recorded, function, "Scans(")
    assert f"({place_of(recorded, 'Scans', 'time.sleep')})" in found["evidence"]


def test_batches_that_do_not_change_are_kept_for_all_epochs(advised, place_of, the_one):
    recorded = "py_dataset/same_in_epochs"
    found = the_one(advised(recorded), "pydataset-repeated-each-epoch")
    assert found["finding"] == (
        "Steps wait for their data: Drawn.__getitem__ makes the data in Python, again in each of 3 epochs"
    )
    assert found["change"] == "import functools\n@functools.cache\ndef __getitem__(self, index):"
    assert found["place"] == place_of(recorded, "Drawn", "def __getitem__")


def test_batches_with_chance_in_them_are_made_by_processes_where_cores_are_left(with_cores, place_of, the_one):
    recorded = "py_dataset/drawn_in_epochs"
    found = the_one(with_cores(recorded, 8).advice.table, "slow-pydataset")
    assert found["finding"].startswith("Steps wait for their data: Flipped.__getitem__ makes")
    assert found["change"] == (
        "model.fit(Flipped(workers=4, use_multiprocessing=True, max_queue_size=16), epochs=3, verbose=0)"
    )
    assert found["place"] == place_of(recorded, "flipped_for_epochs", "Flipped(")


@pytest.mark.parametrize(("cores", "told"), [(1, "one core"), (2, "2 cores")])
def test_processes_are_not_advised_where_no_cores_are_left(with_cores, the_one, cores, told):
    found = the_one(with_cores("py_dataset/drawn_in_epochs", cores).advice.table, "slow-pydataset")
    assert "use_multiprocessing" not in found["fix"]
    assert f"this machine has {told} for them and the training" in found["fix"]
    assert not found["change"]


def test_processes_are_not_advised_where_they_start_for_longer_than_an_epoch_waits(advised, the_one):
    found = the_one(advised("py_dataset/short_epochs"), "slow-pydataset")
    assert found["finding"].startswith("Steps wait for their data: Few.__getitem__ makes the data")
    assert found["fix"].startswith("Do once, in __init__, what each epoch repeats:")
    assert "use_multiprocessing" not in found["fix"]
    assert not found["change"]


@pytest.mark.parametrize(("folder", "short"), [("", True), ("elsewhere", False)])
def test_a_file_below_the_working_folder_is_named_from_there(
    captured, place_of, the_one, tmp_path, monkeypatch, folder, short
):
    """The capture, as if its program were a file in a folder that is the working folder, or not."""
    (profile,) = captured("py_dataset/sleeping").files
    (tmp_path / folder).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / folder)
    file = tmp_path / profile.name
    file.write_bytes(profile.read_bytes())
    beside = gzip.decompress(sidecar_of(profile).read_bytes()).decode()
    sidecar_of(file).write_bytes(gzip.compress(beside.replace(FILE, f"{tmp_path}/scans.py").encode()))
    found = the_one(tp.load(file).advice.table, "slow-pydataset")
    place = place_of("py_dataset/sleeping", "one_by_one", "Scans(").replace(FILE, "scans.py")
    assert found["place"] == (place if short else f"{tmp_path}/{place}")
