"""Folders that captures write to before their runs are whole."""

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

from tfprof_nb.capture.run_folder import publish, staging_folder
from tfprof_nb.runs import find_runs

HOUR = 3600


def left_behind(logdir, name, hours):
    """What a killed capture left so many hours ago."""
    run = logdir / name / "plugins" / "profile" / "2024_01_01_00_00_00"
    run.mkdir(parents=True)
    (run / "host.xplane.pb").write_bytes(b"cut")
    then = time.time() - hours * HOUR
    for path in (logdir / name, *(logdir / name).rglob("*")):
        os.utime(path, (then, then))
    return run


def test_a_capture_removes_what_killed_ones_left_over_a_day_ago(tmp_path):
    left_behind(tmp_path, ".capturing-old", 25)
    left_behind(tmp_path, ".capturing-new", 23)
    running = left_behind(tmp_path, ".capturing-long", 25)
    (running / "other.xplane.pb").write_bytes(b"just written")
    left_behind(tmp_path, "kept.capturing-old", 25)
    left_behind(tmp_path, "mine", 25)
    made = staging_folder(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        ".capturing-new",
        ".capturing-long",
        "kept.capturing-old",
        "mine",
        made.name,
    }


def test_a_run_is_not_found_before_it_is_whole(tmp_path):
    made = staging_folder(tmp_path)
    run = made / "plugins" / "profile" / "run"
    run.mkdir(parents=True)
    (run / "host.xplane.pb").touch()
    assert find_runs(tmp_path) == []


def published(logdir, name="2026_01_01_00_00_00"):
    staging = staging_folder(logdir)
    (staging / name).mkdir()
    (staging / name / "host.xplane.pb").write_bytes(b"x")
    return publish(staging / name, staging, logdir)


def test_the_name_of_a_removed_run_is_not_given_to_a_newer_one(tmp_path):
    first, second = published(tmp_path), published(tmp_path)
    shutil.rmtree(first)
    third = published(tmp_path)
    assert [second.name, third.name] == ["2026_01_01_00_00_00_002", "2026_01_01_00_00_00_003"]
    assert published(tmp_path, "2026_01_01").name == "2026_01_01"


def test_captures_that_end_at_once_get_folders_of_their_own(tmp_path):
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: published(tmp_path), range(40)))
    assert len(set(made)) == 40
    assert all((run / "host.xplane.pb").is_file() for run in made)
