"""What processes leave that were killed while they wrote, and who removes it."""

import os
import subprocess
import sys
import time

from tfprof_nb.formats.unfinished import maker, remove_abandoned


def test_what_is_of_processes_that_are_gone_or_old_is_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    machine = maker().split("-")[1]
    old = time.time() - 25 * 3600
    for name in (f"{ended.pid}-{machine}-a", f"{maker()}b", f"{ended.pid}-ffffffff-c", "old"):
        (tmp_path / f".part-{name}").mkdir()
        (tmp_path / f".part-{name}" / "file").touch()
    (tmp_path / f".part-{ended.pid}-{machine}-file").touch()
    for path in (tmp_path / ".part-old", tmp_path / ".part-old" / "file", tmp_path):
        os.utime(path, (old, old))
    (tmp_path / "mine").touch()
    remove_abandoned(tmp_path, ".part-")
    assert {path.name for path in tmp_path.iterdir()} == {f".part-{maker()}b", f".part-{ended.pid}-ffffffff-c", "mine"}
