"""Opening profile files."""

import gzip

import pytest

from builders import XSpace
from tfprof_nb import BadProfileError
from tfprof_nb.decode import load_hosts


def write(path, name="e"):
    space = XSpace()
    space.plane("p").line("l").event(name)
    return space.write(path)


def test_plain_and_compressed_files(tmp_path):
    plain = write(tmp_path / "a.example.xplane.pb", "one")
    packed = tmp_path / "b.xplane.pb.gz"
    packed.write_bytes(gzip.compress(write(tmp_path / "b.xplane.pb", "two").read_bytes()))
    hosts = load_hosts([plain, packed])
    assert [host.name for host in hosts] == ["a.example", "b"]
    assert [host.names.tolist()[0] for host in hosts] == ["one", "two"]


def test_names_can_be_given(tmp_path):
    (host,) = load_hosts([write(tmp_path / "a.xplane.pb")], ["run/a"])
    assert host.name == "run/a"


def test_other_kinds_are_refused_with_the_supported_ones(tmp_path):
    path = tmp_path / "model.h5"
    path.write_bytes(b"HDF")
    with pytest.raises(BadProfileError, match=r"model\.h5.*not supported.*\*\.xplane\.pb"):
        load_hosts([path])


def test_empty_and_cut_files_are_named(tmp_path):
    path = tmp_path / "m.xplane.pb"
    path.write_bytes(b"")
    with pytest.raises(BadProfileError, match=rf"{path}: the file is empty"):
        load_hosts([path])
    path.write_bytes(write(tmp_path / "n.xplane.pb").read_bytes()[:-1])
    with pytest.raises(BadProfileError, match=rf"{path}: this is no complete XSpace"):
        load_hosts([path])


def test_a_cut_gzip_file_is_refused(tmp_path):
    path = tmp_path / "m.xplane.pb.gz"
    path.write_bytes(gzip.compress(write(tmp_path / "n.xplane.pb").read_bytes())[:-9])
    with pytest.raises(BadProfileError, match="gzip file is cut short or damaged"):
        load_hosts([path])
