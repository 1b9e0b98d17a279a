"""Paths that lead nowhere and files that cannot be read: one of them does not block the rest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders import XSpace
from tfprof_nb import BadProfileError, ProfileNotFoundError, TfprofError, find_runs, load

RUNS = Path("plugins", "profile")
OLDER, NEWER = "2026_01_01_10_00_00", "2026_01_02_10_00_00"


def write(path, name="op:Op"):
    space = XSpace()
    space.plane("/host:CPU").line("python").event(name, duration_us=5)
    return space.write(path)


def a_note(profile, *texts):
    return any(all(text in note for text in texts) for note in profile.overview.notes)


@pytest.mark.parametrize("content", [b"", b"\x0a\x7f", None])
def test_a_bad_host_of_three_is_left_out_with_a_note(tmp_path, content):
    files = [write(tmp_path / f"{name}.xplane.pb") for name in "abc"]
    files[1].unlink()
    if content is None:
        files[1].symlink_to(tmp_path / "nowhere")
    else:
        files[1].write_bytes(content)
    p = load(tmp_path)
    assert (p.hosts, p.files) == (("a", "c"), (files[0], files[2]))
    assert a_note(p, "b.xplane.pb was left out")
    assert str(p)
    assert p.host("c").hosts == ("c",)


def test_a_bad_file_of_a_list_of_hosts_or_runs_is_left_out(tmp_path):
    files = [write(tmp_path / f"{name}.xplane.pb") for name in "abc"]
    files[0].write_bytes(b"")
    assert load(files).hosts == ("b", "c")
    p = load(files, as_runs=True)
    assert a_note(p, "a.xplane.pb was left out")
    assert len(p.events[p.events["name"] == "op:Op"]) == 2


def test_without_a_readable_host_the_first_error_is_raised(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.xplane.pb").touch()
    with pytest.raises(BadProfileError, match=r"a\.xplane\.pb: the file is empty"):
        load(tmp_path)


@pytest.mark.parametrize("newest", ["empty folder", "empty file", "dangling link"])
def test_a_newest_run_without_a_profile_gives_way_to_the_one_before(tmp_path, newest):
    write(tmp_path / RUNS / OLDER / "h.xplane.pb")
    folder = tmp_path / RUNS / NEWER
    folder.mkdir()
    if newest == "empty file":
        (folder / "h.xplane.pb").touch()
    if newest == "dangling link":
        (folder / "h.xplane.pb").symlink_to(tmp_path / "nowhere")
    p = load(tmp_path)
    assert p.name == OLDER
    assert a_note(p, f"The newer run {NEWER} was left out")
    if newest == "empty file":
        with pytest.raises(BadProfileError):
            load(folder)


def test_older_runs_without_a_profile_are_no_news(tmp_path):
    (tmp_path / RUNS / OLDER).mkdir(parents=True)
    write(tmp_path / RUNS / NEWER / "h.xplane.pb")
    assert not a_note(load(tmp_path), "left out")


def test_a_logdir_of_unreadable_runs_names_the_newest(tmp_path):
    for run in (OLDER, NEWER):
        (tmp_path / RUNS / run).mkdir(parents=True)
        (tmp_path / RUNS / run / "h.xplane.pb").touch()
    with pytest.raises(BadProfileError, match=NEWER):
        load(tmp_path)


@pytest.mark.parametrize(
    "path",
    ["~nouser_of_this_name/x", "x" * 300, "x/" * 3000, "a\0b", 5, 5.0, b"x", [5], [b"x"], object(), True, [], ""],
)
def test_what_is_no_path_is_not_found(path):
    for as_runs in (False, True):
        with pytest.raises(ProfileNotFoundError):
            load(path, as_runs=as_runs)


@pytest.mark.parametrize("folder", [5, None, b"x", [], "x" * 300, "a\0b", "~nouser_of_this_name/x"])
def test_a_profile_is_not_saved_where_there_can_be_no_folder(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    p = load(write(tmp_path / "h.xplane.pb"))
    with pytest.raises(TfprofError):
        p.save(folder)
    for write_to in (p.to_html, p.to_chrome_trace):
        with pytest.raises(TfprofError):
            write_to(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["h.xplane.pb"]


@pytest.mark.parametrize("path", ["~nouser_of_this_name/x", "x" * 300, 5, "nowhere"])
def test_runs_are_not_looked_for_where_there_is_no_folder(path):
    with pytest.raises(ProfileNotFoundError):
        find_runs(path)


def test_a_pipe_is_neither_opened_nor_waited_for(tmp_path):
    pipe = tmp_path / "pipe.xplane.pb"
    os.mkfifo(pipe)
    with pytest.raises(TfprofError, match="neither a file nor a folder"):
        load(pipe)
    with pytest.raises(TfprofError, match="no profile"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["h.tfprof.json.gz", "tfprof.label.json", "z.xplane.pb"])
@pytest.mark.parametrize("endless", ["pipe", "device"])
def test_what_never_ends_beside_a_profile_is_not_read(tmp_path, monkeypatch, name, endless):
    monkeypatch.setattr("tfprof_nb.result_cache.LEAST_BYTES", 0)
    monkeypatch.delenv("TFPROF_NB_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = tmp_path / RUNS / OLDER
    write(run / "h.xplane.pb")
    if endless == "pipe":
        os.mkfifo(run / name)
    else:
        (run / name).symlink_to("/dev/zero")
    p = load(tmp_path)
    assert str(p.steps)
    assert p.hosts == ("h",)
    assert load(p.save(tmp_path / "copy")).hosts == ("h",)
    assert len(find_runs(tmp_path)) == 2


def test_links_in_a_circle_are_not_found(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ProfileNotFoundError):
        load(tmp_path / "a")


def test_a_removed_working_folder_is_said(tmp_path):
    code = f"""
import os, tfprof_nb
os.mkdir({str(tmp_path / "gone")!r})
os.chdir({str(tmp_path / "gone")!r})
os.rmdir({str(tmp_path / "gone")!r})
for path in ("logs", "."):
    try:
        tfprof_nb.load(path)
    except tfprof_nb.ProfileNotFoundError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "working folder: removed" in done.stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_and_folders_without_permission_are_named(tmp_path):
    file = write(tmp_path / "a.xplane.pb")
    file.chmod(0)
    with pytest.raises(BadProfileError, match="cannot be read"):
        load(file)
