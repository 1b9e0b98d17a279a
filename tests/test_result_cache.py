"""The second opening of a run takes its results from the disk, and they are those of the first."""

import contextlib
import dataclasses
import gzip
import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import tfprof_nb as tp
from builders import XSpace
from fuzz.seeds import sidecar, space
from tfprof_nb import result_cache
from tfprof_nb.formats.files import sidecar_of
from tfprof_nb.formats.packed import UnpackableError, pack, unpack
from tfprof_nb.views.pages import PAGES

KEPT = sorted(set(PAGES) - {"graph", "trace"})


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """The folder of results; also those of small runs are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(result_cache.OFF)
    monkeypatch.setattr(result_cache, "LEAST_BYTES", 0)
    return tmp_path / "cache" / "tfprof_nb" / "results"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "run" / "h.xplane.pb"
    file.parent.mkdir()
    file.write_bytes(space())
    sidecar_of(file).write_bytes(gzip.compress(sidecar()))
    return file


def named(name):
    made = XSpace()
    made.plane("/host:CPU").line("python").event(name, duration_us=5)
    return made.to_bytes()


def results(p):
    return {name: getattr(p, name) for name in PAGES}


def files(folder):
    return sorted(file for file in folder.rglob("*") if file.is_file())


def decodes(p):
    return "forests" in vars(p.data)


def kind(value):
    return str if isinstance(value, str) else type(value)


def assert_same(a, b):
    """Assert equality to the bit, of types too."""
    assert type(a) is type(b)
    if dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            if field.name not in ("_show", "model", "write", "show_part"):
                assert_same(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_exact=True, check_freq=False)
        assert [kind(value) for value in a.to_numpy().flat] == [kind(value) for value in b.to_numpy().flat]
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    else:
        assert a == b or (math.isnan(a) and math.isnan(b))


def test_the_second_opening_equals_the_first_and_decodes_nothing(path):
    first = tp.load(path)
    expected = {name: getattr(first, name) for name in KEPT}
    texts = [str(first), *(str(result) for result in expected.values())]
    second = tp.load(path)
    for name in KEPT:
        assert_same(getattr(second, name), expected[name])
    assert (second.event_count, second.duration_ms, second.device_type) == (
        first.event_count,
        first.duration_ms,
        first.device_type,
    )
    assert [str(second), *(str(getattr(second, name)) for name in KEPT)] == texts
    assert decodes(first)
    assert not decodes(second)
    pd.testing.assert_frame_equal(second.events, first.events)
    assert str(second.trace) == str(first.trace)
    assert len(second.graph.scope().table) == len(first.graph.scope().table)


@pytest.mark.parametrize("capture", ["tf2-gpu-pong/plugins/profile/2021_06_18_14_00_41", "tf1-timeline/CPU"])
def test_the_same_of_real_captures(shared_data, capture):
    path = next(file for file in sorted((shared_data / capture).iterdir()) if file.suffix in (".pb", ".json"))
    if "timeline" not in capture:
        path = path.parent
    first, second = tp.load(path), None
    expected = {name: getattr(first, name) for name in KEPT}
    second = tp.load(path)
    for name in KEPT:
        assert_same(getattr(second, name), expected[name])
    assert not decodes(second)


def test_a_changed_file_is_read_anew(path, kept):
    path.write_bytes(named("a"))
    assert "a" in tp.load(path).overview.notes or tp.load(path).event_count == 1
    before, (folder,) = path.stat(), kept.iterdir()
    changed = named("b")
    assert len(changed) == before.st_size
    path.write_bytes(changed)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    p = tp.load(path)
    assert decodes(p)
    assert p.events["name"].tolist() == ["b"]
    assert [folder] == list(kept.iterdir())
    assert not decodes(tp.load(path))


def test_a_changed_sidecar_counts_too(path):
    assert "a note" in tp.load(path).overview.notes
    sidecar_of(path).unlink()
    assert "a note" not in tp.load(path).overview.notes


def test_a_file_that_changes_while_it_is_open_leaves_nothing(path, kept):
    p = tp.load(path)
    before = files(kept)
    path.write_bytes(named("b"))
    assert len(p.steps.table)
    assert files(kept) == before
    assert tp.load(path).event_count == 1


def test_damaged_results_are_ignored_and_made_anew(path, kept):
    expected = results(tp.load(path))
    for damage in (lambda data: data[:-9], lambda data: data[:99] + b"x" + data[100:]):
        for file in files(kept):
            file.write_bytes(damage(file.read_bytes()))
        p = tp.load(path)
        assert decodes(p)
        for name in KEPT:
            assert_same(getattr(p, name), expected[name])
        assert not decodes(tp.load(path))


def test_results_of_another_kind_are_ignored(path, kept):
    expected = results(tp.load(path))
    steps, ops = (next(kept.rglob(name)) for name in ("steps", "ops"))
    content = unpack(steps.read_bytes())[0]
    steps.write_bytes(ops.read_bytes())
    ops.write_bytes(pack((content, {"table": 1, "summary": {}, "notes": []})))
    p = tp.load(path)
    assert_same(p.steps, expected["steps"])
    assert_same(p.ops, expected["ops"])


def test_other_code_computes_anew(path, kept, monkeypatch):
    tp.load(path)
    monkeypatch.setattr(result_cache, "_schema", lambda: "another")
    assert decodes(tp.load(path))
    assert len(list(kept.iterdir())) == 2


@pytest.mark.parametrize("off", ["variable", "argument", "redacted", "small"])
def test_it_can_be_turned_off_and_leaves_small_runs_alone(path, kept, off, monkeypatch):
    if off == "variable":
        monkeypatch.setenv(result_cache.OFF, "off")
    if off == "small":
        monkeypatch.setattr(result_cache, "LEAST_BYTES", 1 << 20)
    if off == "redacted":
        tp.load(path, cache=False).to_html(path.parent / "p.html", redact=True)
    p = tp.load(path, cache=off != "argument") if off != "redacted" else None
    assert p is None or len(p.steps.table)
    assert not kept.exists()


def test_nothing_is_written_beside_the_run(path):
    before = files(path.parent)
    results(tp.load(path))
    assert files(path.parent) == before


def test_a_run_of_which_files_are_left_out_is_not_kept(path, kept):
    (path.parent / "z.xplane.pb").write_bytes(b"damaged")
    assert tp.load(path.parent).hosts == ("h",)
    assert not kept.exists()


def test_the_oldest_runs_leave_first(tmp_path, kept, monkeypatch):
    monkeypatch.setattr(result_cache, "MOST_RUNS", 3)
    paths = [tmp_path / f"{name}.xplane.pb" for name in "abcd"]
    for place, path in enumerate(paths):
        path.write_bytes(named(path.name))
        tp.load(path)
        newest = max(kept.iterdir(), key=lambda folder: folder.stat().st_ctime_ns)
        os.utime(newest, (place, place))
    assert [decodes(tp.load(path)) for path in paths] == [True, False, False, False] or len(list(kept.iterdir())) == 3
    assert decodes(tp.load(paths[0]))


def test_the_size_is_bounded(tmp_path, kept, monkeypatch):
    monkeypatch.setattr(result_cache, "MOST_BYTES", 1)
    for name in "abc":
        path = tmp_path / f"{name}.xplane.pb"
        path.write_bytes(named(name))
        tp.load(path)
    assert len(list(kept.iterdir())) == 1
    assert not decodes(tp.load(path))


def test_several_kernels_at_once_agree(path):
    expected, found = results(tp.load(path, cache=False)), []

    def open_often():
        found.extend(results(tp.load(path)) for _ in range(2))

    threads = [threading.Thread(target=open_often) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    for one in found:
        for name in KEPT:
            assert_same(one[name], expected[name])


@pytest.mark.usefixtures("no_collection")
def test_interrupts_leave_no_half_file(path, kept):
    for seed in range(8):
        shutil.rmtree(kept, ignore_errors=True)
        timer = threading.Timer(0.002 + 0.01 * seed, os.kill, (os.getpid(), signal.SIGINT))
        p = tp.load(path)
        with contextlib.suppress(KeyboardInterrupt):
            timer.start()
            results(p)
            timer.join()
        timer.join()
        for file in files(kept):
            unpack(file.read_bytes())
            assert not file.parent.name.startswith(".part-")
    assert not decodes(tp.load(path)) or len(tp.load(path).steps.table)


def test_a_full_disk_is_said_and_costs_no_result(path, tmp_path):
    code = f"""
import resource, tfprof_nb as tp
from tfprof_nb import result_cache
result_cache.LEAST_BYTES = 0
tp.load({str(path)!r}, cache=False).overview
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
p = tp.load({str(path)!r})
print(len(p.steps.table) > 0, *p.overview.notes, sep="\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("True")
    assert f"nothing can be kept in {tmp_path / 'cache' / 'tfprof_nb' / 'results'} (File too large" in done.stdout
    assert files(tmp_path / "cache") == []


def test_a_cache_that_cannot_be_written_is_silent(path, tmp_path):
    (tmp_path / "cache").write_text("a file")
    p = tp.load(path)
    assert len(p.steps.table)
    assert not [note for note in p.overview.notes if "kept" in note]


def test_what_is_no_plain_value_is_not_packed():
    for value in (object(), {"a": {1, 2}}, [lambda: 0], pd.DataFrame({"a": [pd.Timestamp(0)]}), np.ones((2, 2))):
        with pytest.raises(UnpackableError):
            pack(value)


@pytest.mark.parametrize("times", [1, 2, 100_000])
def test_arrays_named_again_and_again_do_not_fill_the_memory(times):
    text = json.dumps(["list", [["array", ["<f8", 0, 1000]]] * times]).encode()
    rest = len(text).to_bytes(8, "little") + text + bytes(8000)
    data = b"tfprofr1" + hashlib.sha256(rest).digest() + rest
    if times == 1:
        assert_same(unpack(data), [np.zeros(1000)])
    else:
        with pytest.raises(UnpackableError):
            unpack(data)
