"""Finding runs on disk."""

import os
from datetime import datetime

import pytest

from tfprof_nb import ProfileNotFoundError, TfprofError
from tfprof_nb.runs import find_runs, resolve


def make(folder, *hosts):
    folder.mkdir(parents=True)
    for host in hosts:
        (folder / f"{host}.xplane.pb").write_bytes(b"")
    return folder


@pytest.fixture
def logdir(tmp_path):
    runs = tmp_path / "logs" / "plugins" / "profile"
    make(runs / "2024_05_01_10_00_00", "a.local", "b.local")
    make(runs / "2023_05_01_10_00_00", "a.local")
    make(tmp_path / "logs" / "deep" / "er" / "plugins" / "profile" / "2025_01_01_00_00_00", "c")
    make(runs / "2026_01_01_00_00_00")
    return tmp_path / "logs"


def test_runs_at_any_depth_newest_last(logdir):
    runs = find_runs(str(logdir))
    assert [run.name for run in runs] == ["2023_05_01_10_00_00", "2024_05_01_10_00_00", "2025_01_01_00_00_00"]
    assert runs[1].hosts == ("a.local", "b.local")
    assert [file.name for file in runs[1].files] == ["a.local.xplane.pb", "b.local.xplane.pb"]
    assert runs[1].path == logdir / "plugins" / "profile" / "2024_05_01_10_00_00"
    assert runs[1].time.replace(tzinfo=None) == datetime(2024, 5, 1, 10)  # noqa: DTZ001


def test_a_run_with_a_name_of_its_own_has_its_files_time(logdir):
    run = make(logdir / "plugins" / "profile" / "mine", "h")
    os.utime(run / "h.xplane.pb", (1_710_000_000, 1_710_000_000))
    assert [found.name for found in find_runs(logdir)][1] == "mine"


def test_runs_of_one_second_keep_their_time_and_order_when_copied(logdir):
    run = make(logdir / "plugins" / "profile" / "2024_05_01_10_00_00_002", "h")
    os.utime(run / "h.xplane.pb", (1_900_000_000, 1_900_000_000))
    names = [found.name for found in find_runs(logdir)]
    assert names[1:3] == ["2024_05_01_10_00_00", "2024_05_01_10_00_00_002"]
    assert resolve(logdir).name == "2025_01_01_00_00_00"


def test_a_logdir_stands_for_its_newest_run(logdir):
    assert resolve(logdir).name == "2025_01_01_00_00_00"


def test_a_run_folder_is_a_run_anywhere(tmp_path):
    folder = make(tmp_path / "copied", "h")
    assert find_runs(folder) == [resolve(folder)]
    assert (resolve(folder).name, resolve(folder).hosts) == ("copied", ("h",))


def test_a_file_is_a_run(logdir, tmp_path):
    inside = logdir / "plugins" / "profile" / "2024_05_01_10_00_00" / "b.local.xplane.pb"
    outside = make(tmp_path / "elsewhere", "host") / "host.xplane.pb"
    assert (resolve(inside).name, resolve(inside).hosts) == ("2024_05_01_10_00_00", ("b.local",))
    assert (resolve(outside).name, resolve(outside).hosts, resolve(outside).files) == ("host", ("host",), (outside,))


def test_several_files_are_the_hosts_of_one_run(tmp_path):
    files = [make(tmp_path / name, "h") / "h.xplane.pb" for name in ("one", "two")]
    files.append(make(tmp_path / "three", "k") / "k.xplane.pb")
    assert resolve(files).hosts == ("one/h", "two/h", "k")


def test_one_host_of_a_run(logdir):
    only = find_runs(logdir)[1].only("b.local")
    assert (only.hosts, [file.name for file in only.files]) == (("b.local",), ["b.local.xplane.pb"])


def test_a_run_as_text(logdir):
    newest = resolve(logdir)
    assert str(newest) == f"2025_01_01_00_00_00 (c, 2025-01-01 00:00:00) in {newest.path}"
    assert "2 hosts" in str(find_runs(logdir)[1])


def test_nothing_there_is_said(tmp_path):
    for look in (find_runs, resolve, lambda path: resolve([path])):
        with pytest.raises(ProfileNotFoundError, match=rf"no file or folder {tmp_path / 'none'}"):
            look(tmp_path / "none")


def test_a_folder_without_runs_is_said(tmp_path):
    assert find_runs(tmp_path) == []
    with pytest.raises(ProfileNotFoundError, match=rf"no profile in {tmp_path}.*plugins/profile/\*/\*\.xplane\.pb"):
        resolve(tmp_path)


def test_no_files_are_said():
    with pytest.raises(ProfileNotFoundError, match=r"No path was given|list of files is empty"):
        resolve([])


def test_chrome_traces_make_a_run_where_there_is_no_better_file(tmp_path):
    runs = tmp_path / "plugins" / "profile"
    only_traces, both = runs / "2021_01_01_00_00_00", make(runs / "2022_01_01_00_00_00", "h")
    only_traces.mkdir()
    for folder in (only_traces, both):
        (folder / "h.trace.json.gz").write_bytes(b"")
        (folder / "h.memory_profile.json.gz").write_bytes(b"")
    found = find_runs(tmp_path)
    assert [[file.name for file in run.files] for run in found] == [["h.trace.json.gz"], ["h.xplane.pb"]]
    assert [run.hosts for run in found] == [("h",), ("h",)]


def test_the_runs_of_a_session_are_parts_of_one_run(tmp_path):
    folder = tmp_path / "plugins" / "profile" / "2021_01_01_00_00_00"
    folder.mkdir(parents=True)
    for name in ("my.host.0000.run_metadata.pb", "my.host.0003.run_metadata.pb", "graph.tfprof.json.gz"):
        (folder / name).write_bytes(b"")
    (run,) = find_runs(tmp_path)
    assert run.hosts == ("my.host",)
    assert run.parts == ("my.host.0000", "my.host.0003")
    assert len(run.files) == 2
    assert run.only("my.host") == run


def test_runs_one_after_another(logdir, tmp_path):
    whole = resolve([logdir / "plugins" / "profile" / "2023_05_01_10_00_00", logdir / "deep"], as_runs=True)
    assert whole.parts == ("2023_05_01_10_00_00", "2025_01_01_00_00_00")
    assert whole.name == "2023_05_01_10_00_00 and 1 more run"
    assert whole.hosts == (whole.name,)  # two hosts, one timeline
    with pytest.raises(TfprofError, match="has 2 hosts"):
        resolve(logdir, as_runs=True)


def test_what_a_killed_capture_left_is_no_run(logdir):
    before = find_runs(logdir)
    left = make(logdir / ".capturing-x1" / "plugins" / "profile" / "2027_01_01_00_00_00", "cut")
    make(logdir / "deep" / ".capturing-x2" / "plugins" / "profile" / "2027_01_01_00_00_00", "cut")
    assert find_runs(logdir) == before
    assert resolve(logdir).name == "2025_01_01_00_00_00"
    assert find_runs(left)[0].path == left  # who names it gets it


def test_what_cannot_be_printed_is_left_out_of_a_run_s_text(tmp_path):
    (found,) = find_runs(make(tmp_path / "logs\x1b[31m", "h\x1b]0;title\x07"))
    assert not set("\x1b\x07") & set(str(found))


def test_a_run_that_was_found_is_loaded_as_it_is(logdir):
    older, newer = find_runs(logdir)[:2]
    assert resolve(older) is older
    assert resolve(older) != resolve(newer)
