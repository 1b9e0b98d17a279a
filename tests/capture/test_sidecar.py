import gzip
import json
from contextlib import contextmanager

import pytest

from tfprof_nb.capture.options import Options
from tfprof_nb.capture.recording import Recording
from tfprof_nb.capture.sidecar import write
from tfprof_nb.decode.sidecar import read_sidecar
from tfprof_nb.formats.files import sidecar_of


@contextmanager
def collecting(section, events):
    events.append("opened")
    yield lambda: section
    events.append("closed")


def recorded(tmp_path, **collectors):
    (file,) = Recording(tmp_path, Options(), collectors).start().stop().glob("*.xplane.pb")
    return file


@pytest.mark.tensorflow
def test_sections_come_back_as_they_were_gathered(tmp_path):
    events = []
    file = recorded(tmp_path, colours=collecting({"red": [1, 2.5], "ünï": None}, events), nothing=collecting([], []))
    assert read_sidecar(file).sections == {"colours": {"red": [1, 2.5], "ünï": None}}
    assert read_sidecar(file).note == ""
    assert events == ["opened", "closed"]


def test_the_same_sections_give_the_same_bytes_at_any_time(tmp_path, monkeypatch):
    write(tmp_path / "now", {"colours": [1]})
    monkeypatch.setattr("time.time", lambda: 1e9)
    write(tmp_path / "then", {"colours": [1]})
    assert (tmp_path / "now").read_bytes() == (tmp_path / "then").read_bytes()


@pytest.mark.tensorflow
def test_without_sections_no_sidecar_is_written(tmp_path):
    file = recorded(tmp_path)
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert read_sidecar(file).sections == {}
    assert read_sidecar(file).note == ""


@pytest.mark.tensorflow
@pytest.mark.parametrize("section", [object(), float("nan")])
def test_a_section_that_cannot_be_written_costs_only_itself(tmp_path, section):
    with pytest.warns(UserWarning, match="has no bad"):
        file = recorded(tmp_path, bad=collecting([section], []), good=collecting([1], []))
    assert read_sidecar(file).sections == {"good": [1]}


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"no json", mtime=0), gzip.compress(b"[]", mtime=0), gzip.compress(b"{}", mtime=0)],
)
def test_a_damaged_sidecar_is_left_out_with_a_note(tmp_path, content):
    file = tmp_path / "a.xplane.pb"
    sidecar_of(file).write_bytes(content)
    sidecar = read_sidecar(file)
    assert sidecar.sections == {}
    assert "a.tfprof.json.gz beside the profile is damaged" in sidecar.note


def test_a_sidecar_of_another_version_is_left_out_with_a_note(tmp_path):
    file = tmp_path / "a.xplane.pb"
    sidecar_of(file).write_bytes(gzip.compress(json.dumps({"version": 99, "lines": [1]}).encode()))
    assert read_sidecar(file).sections == {}
    assert "its format is 99" in read_sidecar(file).note
