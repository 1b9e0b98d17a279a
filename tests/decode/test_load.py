"""Opening profile files."""

import errno
import gzip
import json
import mmap
import os
import subprocess
import sys
from types import SimpleNamespace

import psutil
import pytest

from builders import XSpace, field
from tfprof_nb import BadProfileError, load
from tfprof_nb.decode import load_hosts, read_xspace
from tfprof_nb.decode.files import kind_of, read


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
    with pytest.raises(BadProfileError, match=rf"{path}: this is not a complete XSpace"):
        load_hosts([path])


def test_a_cut_gzip_file_is_refused(tmp_path):
    path = tmp_path / "m.xplane.pb.gz"
    path.write_bytes(gzip.compress(write(tmp_path / "n.xplane.pb").read_bytes())[:-9])
    with pytest.raises(BadProfileError, match="gzip file is cut short or damaged"):
        load_hosts([path])


CHROME = json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 3, "name": "a:A"}]).encode()


@pytest.mark.parametrize("name", ["trace", "trace.json", "trace.trace", "trace.gz"])
def test_a_chrome_trace_of_any_name_has_events_and_a_graph(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(CHROME) if name == "trace.gz" else CHROME)
    p = load(path)
    assert p.events["name"].tolist() == ["a:A"]
    assert p.graph.summary is not None


PLANE = field(1, field(1, 1) + field(2, "/host:CPU"))
DEVICE = field(1, field(1, 0) + field(2, field(1, "/device:GPU:0") + field(2, 1)))
NODE = field(1, field(1, 0) + field(2, field(1, "product") + field(12, b"")))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.pb", b"\n{", "run_metadata"),
        ("a.pb.gz", b"", "run_metadata"),
        ("a", b"\x0a\x02\x08\x01", "run_metadata"),
        ("a", b"step_stats {", "run_metadata"),
        ("a", gzip.compress(b"step_stats {", mtime=0), "run_metadata"),
        ("a", field(1, field(1, field(1, "/device:CPU:0"))), "run_metadata"),
        ("a", b" \n{", "json"),
        ("a", b"\xef\xbb\xbf[", "json"),
        ("a", gzip.compress(b"[" + b" " * 100_000, mtime=0), "json"),
        ("a.json", b"step_stats {", "json"),
        ("a.json.gz", b"", "json"),
        ("a.xplane.pb", b"", "xspace"),
        ("a.xplane.pb.gz", b"", "xspace"),
        ("profile.pb", PLANE, "xspace"),
        ("profile", gzip.compress(PLANE, mtime=0), "xspace"),
        ("profile", field(1, field(2, "/host:CPU")), "xspace"),
        ("local.trace", DEVICE, "local_trace"),
        ("profile_100", NODE, "tfprof"),
    ],
)
def test_the_kind_is_told_by_the_name_or_else_by_the_start(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    assert kind_of(tmp_path / name) == expected


@pytest.mark.parametrize("name", ["profile.pb", "trace", "packed"])
def test_an_xspace_opens_by_any_name(tmp_path, name):
    content = write(tmp_path / "a.xplane.pb", "op:Op").read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(content) if name == "packed" else content)
    profile = load(tmp_path / name)
    assert (profile.name, profile.events["name"].tolist()) == (name.removesuffix(".pb"), ["op:Op"])


def test_gzip_files_of_several_members_and_filled_up_ones_are_read(tmp_path):
    path = tmp_path / "several.json.gz"
    path.write_bytes(gzip.compress(CHROME[:20]) + gzip.compress(CHROME[20:]) + bytes(512))
    assert read(path) == CHROME


@pytest.mark.parametrize("name", ["a.xplane.pb", "a.json.gz", "a"])
def test_what_unzips_to_more_than_memory_holds_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**21))
    path = tmp_path / name
    path.write_bytes(gzip.compress(bytes(2**20)) + gzip.compress(b"1"))
    with pytest.raises(BadProfileError, match=rf"{name}: the decompressed file is larger than 1.00 MiB, half of"):
        load_hosts([path])
    path.write_bytes(gzip.compress(bytes(2**20)))
    assert len(read(path)) == 2**20


def test_a_damaged_gzip_file_of_any_kind_is_named(tmp_path):
    for name in ("a.json.gz", "a.pb.gz", "a.gz", "a"):
        path = tmp_path / name
        for content in (gzip.compress(CHROME)[:-9], gzip.compress(CHROME) + b"x", b"\x1f\x8b???????????"):
            path.write_bytes(content)
            with pytest.raises(BadProfileError, match=rf"{name}: the gzip file is cut short or damaged"):
                load_hosts([path])


def large(path, name="op"):
    """Write a profile of more than 2 MiB."""
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for number in range(20):
        line.event(name, start_us=number, duration_us=1, text="x" * 110_000)
    return space.write(path)


def test_a_file_cut_short_after_loading_neither_kills_the_process_nor_changes_the_profile(tmp_path):
    path = large(tmp_path / "m.xplane.pb")
    cut = f"""
import os, tfprof_nb
p = tfprof_nb.load({str(path)!r})
os.truncate({str(path)!r}, 4096)
(forest,) = p.data.forests
assert [len(text) for text in forest.host.texts("text").categories] == [110_000]
"""
    assert subprocess.run([sys.executable, "-c", cut], check=False).returncode == 0


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**22))


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("fate", [lambda path: os.truncate(path, 4096), os.unlink, write])
def test_a_file_too_large_for_memory_stays_readable_whatever_becomes_of_it(tmp_path, fate):
    (host,) = load_hosts([path := large(tmp_path / "m.xplane.pb")])
    assert isinstance(host._stats.wire.data.obj, mmap.mmap)
    fate(path)
    assert host.stat_names() == ["text"]
    assert len(host.stats_of(0)["text"]) == 110_000


@pytest.mark.usefixtures("little_memory")
def test_a_file_too_large_for_memory_that_is_cut_while_it_is_decoded_is_read(tmp_path, monkeypatch):
    path = large(tmp_path / "m.xplane.pb")

    def cut_first(*args):
        os.truncate(path, 4096)
        return read_xspace(*args)

    monkeypatch.setattr("tfprof_nb.decode.load.read_xspace", cut_first)
    assert len(load_hosts([path])[0]) == 20


@pytest.mark.usefixtures("little_memory")
def test_without_room_for_a_copy_of_a_large_file_the_message_says_so(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(BadProfileError, match=r"m\.xplane\.pb.*No space left on device.*TMPDIR.*2\.\d+ MiB"):
        load(large(tmp_path / "m.xplane.pb"))


@pytest.mark.parametrize(("name", "content"), [("m.xplane.pb", None), ("t.json", CHROME), ("m.pb", b"\n\0")])
def test_a_file_that_needs_more_than_the_free_memory_is_refused_before_it_is_decoded(
    tmp_path, monkeypatch, name, content
):
    monkeypatch.setattr("tfprof_nb.decode.files.free_bytes", lambda: 3 << 20)
    monkeypatch.setattr("tfprof_nb.decode.files._ALWAYS_BYTES", 0)
    path = tmp_path / name
    many = field(1, field(3, field(4, b"") * 20_000)) if content is None else content.ljust(200_000)
    path.write_bytes(many)
    with pytest.raises(BadProfileError, match=rf"{name}: to read this file takes about \d.* and 3.00 MiB are free"):
        load(path)


def test_many_stats_of_one_event_take_memory_as_their_number(tmp_path):
    path = tmp_path / "m.xplane.pb"
    path.write_bytes(field(1, field(3, field(4, field(1, 1) + field(4, b"") * 500_000))))
    code = f"""
import resource, tfprof_nb
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
p = tfprof_nb.load({str(path)!r})
before = peak()
p.data.forests[0].host.stat_names()
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) * 1024 < 120 * path.stat().st_size


def test_many_hosts_take_no_file_descriptors(tmp_path):
    paths = [large(tmp_path / f"{number}.xplane.pb") for number in range(3)]
    before = psutil.Process().num_fds()
    hosts = load_hosts(paths)
    assert (len(hosts), psutil.Process().num_fds()) == (3, before)


def test_a_gzip_bomb_is_refused(tmp_path):
    path = tmp_path / "m.xplane.pb.gz"
    path.write_bytes(gzip.compress(b"\x0a\x00" * (48 << 20)))
    with pytest.raises(BadProfileError, match="more than 250 times its size"):
        load_hosts([path])


def test_a_file_of_planes_alone_is_refused(tmp_path):
    path = tmp_path / "m.xplane.pb"
    path.write_bytes(field(1, b"") * 70_000)
    with pytest.raises(BadProfileError, match="more than 65,536 planes"):
        load_hosts([path])
