"""Profiles at URLs: in fsspec's memory, on a web server, on a server that speaks S3."""

import functools
import gzip
import http.server
import os
import subprocess
import sys
import threading
import time
import urllib.request

import fsspec
import pytest

import tfprof_nb as tp
from builders import XSpace
from capture.ports import free_ports
from fuzz.seeds import sidecar, space
from tfprof_nb import storage
from tfprof_nb.formats.files import SIDECAR
from tfprof_nb.render.progress import progress_shown_by

RUN = "plugins/profile/2026_01_02_10_00_00"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder of copies."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tfprof_nb"


@pytest.fixture
def memory():
    """fsspec's memory, emptied afterwards."""
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/", recursive=True)


def named(name):
    made = XSpace()
    made.plane("/host:CPU").line("python").event(name, duration_us=5)
    return made.to_bytes()


def copies(cache, name):
    return [path for path in cache.rglob(name) if path.is_file()]


def test_a_logdir_at_a_url_is_opened_with_sidecars_and_hosts(memory, cache):
    memory.pipe(f"/logs/{RUN}/a.xplane.pb", space())
    memory.pipe(f"/logs/{RUN}/b.xplane.pb", named("b"))
    memory.pipe(f"/logs/{RUN}/a{SIDECAR}", gzip.compress(sidecar()))
    memory.pipe("/logs/plugins/profile/2026_01_01_10_00_00/a.xplane.pb", b"damaged, and not fetched")
    shown = []
    with progress_shown_by(shown.append):
        p = tp.load("memory://logs")
    assert shown[-1].startswith("fetched ")
    assert (p.name, p.hosts, p.origin) == ("2026_01_02_10_00_00", ("a", "b"), "the newest of 2 runs")
    assert "a note" in p.overview.notes
    assert p.host("b").hosts == ("b",)
    assert len(copies(cache, "a.xplane.pb")) == 1
    assert tp.load(f"memory://logs/{RUN}/b.xplane.pb").hosts == ("b",)
    assert tp.load([f"memory://logs/{RUN}/{host}.xplane.pb" for host in "ab"]).hosts == ("a", "b")
    assert [run.name for run in tp.find_runs("memory://logs")] == ["2026_01_01_10_00_00", "2026_01_02_10_00_00"]


def test_copies_are_used_until_the_storage_changes_and_never_when_damaged(memory, cache, monkeypatch):
    fetched = []
    get = type(memory).get_file
    monkeypatch.setattr(type(memory), "get_file", lambda self, *args, **kw: (fetched.append(1), get(self, *args, **kw)))

    def names():
        storage._CHECKED.clear()  # as in another process
        return tp.load("memory://x/h.xplane.pb").events["name"].tolist()

    memory.pipe("/x/h.xplane.pb", named("one"))
    assert (names(), names(), len(fetched)) == (["one"], ["one"], 1)
    (copy,) = copies(cache, "h.xplane.pb")
    copy.write_bytes(named("two"))
    assert (names(), len(fetched)) == (["one"], 2)
    copy.unlink()
    assert (names(), len(fetched)) == (["one"], 3)
    memory.pipe("/x/h.xplane.pb", named("new"))
    assert (names(), len(fetched)) == (["new"], 4)


def test_one_file_that_cannot_be_fetched_does_not_block_the_rest(memory, cache, monkeypatch):
    get, forbidden = type(memory).get_file, "b.xplane.pb"

    def get_file(self, path, *args, **kw):
        if path.endswith(forbidden):
            raise PermissionError("403 Forbidden")
        return get(self, path, *args, **kw)

    for host in "abc":
        memory.pipe(f"/logs/{RUN}/{host}.xplane.pb", named(host))
    memory.pipe(f"/logs/{RUN}/a{SIDECAR}", gzip.compress(sidecar()))
    assert tp.load("memory://logs").hosts == ("a", "b", "c")
    monkeypatch.setattr(type(memory), "get_file", get_file)
    memory.pipe(f"/logs/{RUN}/b.xplane.pb", named("newer"))
    p = tp.load("memory://logs")
    assert p.hosts == ("a", "c")
    assert sum("b.xplane.pb was left out. memory://" in note for note in p.overview.notes) == 1
    assert "a note" in p.overview.notes
    assert "newer" not in set(tp.load(f"memory://logs/{RUN}/c.xplane.pb").events["name"])
    with pytest.raises(tp.TfprofError, match=r"b\.xplane\.pb cannot be fetched"):
        tp.load(f"memory://logs/{RUN}/b.xplane.pb")
    forbidden = SIDECAR
    memory.pipe(f"/logs/{RUN}/a{SIDECAR}", gzip.compress(sidecar(), 1))
    p = tp.load("memory://logs")
    assert p.hosts == ("a", "b", "c")
    assert "a note" not in p.overview.notes
    assert sum(f"a{SIDECAR} was left out" in note for note in p.overview.notes) == 1


def test_names_that_no_file_can_have_are_left_out(memory, cache):
    for host in ("ok", "x" * 300, "a\0b"):
        memory.pipe(f"/logs/{RUN}/{host}.xplane.pb", named("a"))
    p = tp.load("memory://logs")
    assert p.hosts == ("ok",)
    assert sum("xxx.xplane.pb was left out" in note for note in p.overview.notes) == 1


@pytest.mark.parametrize("content", [b"[]", b"5", b"{", b"[" * 100_000, b'{"mark": [], "sha256": {}}', None])
def test_damaged_notes_on_copies_are_not_trusted(memory, cache, content):
    memory.pipe("/x/h.xplane.pb", named("one"))
    tp.load("memory://x")
    storage._CHECKED.clear()
    (note,) = copies(cache, ".h.xplane.pb.json")
    note.unlink()
    note.write_bytes(content) if content else os.mkfifo(note)
    assert tp.load("memory://x").events["name"].tolist() == ["one"]


def test_a_cache_that_takes_no_copy_is_said(memory, cache, tmp_path):
    memory.pipe("/x/h.xplane.pb", space())
    (tmp_path / "cache").write_text("a file in the place of a folder")
    with pytest.raises(tp.TfprofError, match=rf"cannot be copied to {cache}: Not a directory.*XDG_CACHE_HOME"):
        tp.load("memory://x")
    (tmp_path / "cache").unlink()
    code = """
import fsspec, resource, sys, tfprof_nb as tp
fsspec.filesystem("memory").pipe("/x/h.xplane.pb", bytes(5000))
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    tp.load("memory://x")
except tp.TfprofError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"cannot be copied to {cache}: File too large" in done.stdout
    assert copies(cache, "*") == []


@pytest.mark.parametrize(
    ("url", "error", "says"),
    [
        ("memory://nothing/here", tp.ProfileNotFoundError, "nothing at memory://nothing/here"),
        ("noprotocol://x", tp.TfprofError, "noprotocol"),
        ("memory://empty", tp.ProfileNotFoundError, "no profile below memory://empty"),
    ],
)
def test_what_is_not_there_is_said(memory, url, error, says):
    memory.pipe("/empty/readme.txt", b"x")
    with pytest.raises(error, match=says):
        tp.load(url)


@pytest.mark.parametrize("url", ["s3://bucket/logs", "gs://bucket/logs"])
def test_without_the_protocols_package_the_message_names_it(tmp_path, url, monkeypatch):
    monkeypatch.chdir(tmp_path)
    package = {"s3": "s3fs", "gs": "gcsfs"}[url[:2]]
    monkeypatch.setitem(sys.modules, package, None)
    for use in (tp.load, tp.find_runs, lambda url: tp.profile(logdir=url).__enter__()):
        with pytest.raises(tp.MissingDependencyError, match=package):
            use(url)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def web(tmp_path):
    """A folder, and the address of a web server that has it."""
    (tmp_path / "web").mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "web")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield tmp_path / "web", f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_file_on_a_web_server(web):
    pytest.importorskip("aiohttp")
    folder, address = web
    (folder / "h.xplane.pb").write_bytes(named("web"))
    assert tp.load(f"{address}/h.xplane.pb").events["name"].tolist() == ["web"]
    with pytest.raises(tp.ProfileNotFoundError):
        tp.load(f"{address}/other.xplane.pb")
    with pytest.raises(tp.TfprofError):
        tp.load("http://127.0.0.1:9/h.xplane.pb")


@pytest.mark.tensorflow
def test_a_capture_into_a_url_arrives_there(memory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tp.profile(logdir="memory://captures/here") as p, tp.step(0):
        pass
    again = tp.load("memory://captures/here")
    assert (again.name, again.hosts, len(again.events)) == (p.name, p.hosts, len(p.events))
    assert again.data.has_lines
    assert p.save("memory://elsewhere") == f"memory://elsewhere/plugins/profile/{p.name}"
    assert len(tp.load("memory://elsewhere").events) == len(p.events)
    assert not (tmp_path / "memory:").exists()


@pytest.mark.tensorflow
def test_variables_in_paths(tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE_OF_LOGS", str(tmp_path / "place"))
    with tp.profile(logdir="$PLACE_OF_LOGS/logs"):
        pass
    assert (tmp_path / "place" / "logs" / "plugins").is_dir()
    assert tp.load("$PLACE_OF_LOGS/logs").files[0].is_relative_to(tmp_path / "place")


def test_two_processes_fetch_the_same_at_once(web):
    pytest.importorskip("aiohttp")
    folder, address = web
    (folder / "h.xplane.pb").write_bytes(space())
    code = f"import tfprof_nb as tp; print(len(tp.load('{address}/h.xplane.pb').events))"
    both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert len({process.communicate()[0] for process in both}) == 1
    assert not any(process.returncode for process in both)


@pytest.fixture
def s3(monkeypatch):
    """A server that speaks S3, in a process of its own."""
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    (port,) = free_ports(1)
    address = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for name, value in {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "ENDPOINT_URL": address}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    until = time.monotonic() + 100
    while True:
        try:
            urllib.request.urlopen(address).close()
            break
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.1)
    system = fsspec.filesystem("s3")
    system.mkdir("bucket")
    yield system
    process.kill()
    process.wait()


@pytest.mark.nightly
@pytest.mark.tensorflow
def test_s3(s3, cache):
    with tp.profile(logdir="s3://bucket/logs") as p, tp.step(0):
        pass
    again = tp.load("s3://bucket/logs")
    assert (again.name, len(again.events)) == (p.name, len(p.events))
    assert len(tp.find_runs("s3://bucket")) == 1
    with pytest.raises(tp.TfprofError):
        tp.load("s3://nobucket/logs")
    assert any(cache.iterdir())
