"""The run folder of a capture: written in a staging folder, moved to its place when it is complete."""

from __future__ import annotations

import errno
import glob
import itertools
import os
import shutil
import socket
import tempfile
import time
import uuid
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tfprof_nb._errors import CaptureError
from tfprof_nb.formats.files import RUNS_FOLDER, SESSION_GRAPH, SIDECAR, STAGING_PREFIX, sidecar_of
from tfprof_nb.formats.label import copy_label

_ABANDONED_S = 24 * 60 * 60


def staging_folder(logdir: Path) -> Path:
    """Make a folder inside ``logdir`` for TensorFlow to write to, after checking that files can be written there.

    TensorFlow itself finds out only at the end, when the data is lost; and two captures within one second would write
    to the same folder, so that one overwrites the other.
    """
    __tracebackhide__ = True
    try:
        logdir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=logdir) as probe:
            probe.write(b"writable")
            probe.flush()
        _remove_abandoned(logdir)
        return Path(tempfile.mkdtemp(prefix=f"{STAGING_PREFIX}{os.getpid()}-{_machine()}-", dir=logdir))
    except OSError as error:
        raise CaptureError(
            f"Profiles cannot be written to {logdir}: {error.strerror or error}. "
            "Choose another folder with logdir=... (in the magic: --out DIR)."
        ) from None


def _remove_abandoned(logdir: Path) -> None:
    """Remove the staging folders of processes of this machine that are gone, and those unchanged for a day."""
    for folder in logdir.glob(f"{STAGING_PREFIX}*"):
        with suppress(OSError):  # its capture may be ending
            if _maker_is_gone(folder.name) or _changed_s(folder) < time.time() - _ABANDONED_S:
                shutil.rmtree(folder)


def _maker_is_gone(name: str) -> bool:
    import psutil

    process, _, rest = name.removeprefix(STAGING_PREFIX).partition("-")
    return process.isdigit() and rest.startswith(f"{_machine()}-") and not psutil.pid_exists(int(process))


def this_process() -> str:
    """Return what tells this process from all others, on a shared disk too."""
    import psutil

    return f"{_machine()} {os.getpid()} {psutil.Process().create_time():.0f}"


def _machine() -> str:
    """Return a name of this machine (in a container, of the container) that tells it from others on a shared disk."""
    return f"{zlib.crc32(f'{socket.gethostname()} {uuid.getnode()}'.encode()):08x}"


def _changed_s(folder: Path) -> float:
    return max(path.stat().st_mtime for path in (folder, *folder.rglob("*")))


def publish(run: Path, staging: Path, logdir: Path) -> Path:
    """Move the run folder from the staging folder to its place in the logdir, and return it."""
    target = logdir / RUNS_FOLDER
    try:
        target.mkdir(parents=True, exist_ok=True)
        return _moved(run, target)
    except OSError as error:
        kept = staging.rename(staging.with_name(f"kept{staging.name}"))  # else it is removed with the staging folder
        raise CaptureError(
            f"The profile could not be saved in {target}: {error.strerror or error}. It is kept in {kept}: open it "
            "with tfprof_nb.load()."
        ) from error


def copied(files: Iterable[Path], logdir: Path, name: str) -> Path:
    """Copy profiles and what was recorded beside them to a run folder of this name, and return it."""
    staging = staging_folder(logdir)
    try:
        run = staging / name
        run.mkdir()
        sources = list(files)
        for file in sources:
            for part in (file, sidecar_of(file), file.with_name(SESSION_GRAPH + SIDECAR)):
                if part.is_file():
                    shutil.copy2(part, run)
        copy_label(sources[0].parent, run)
        return publish(run, staging, logdir)
    except OSError as error:
        raise CaptureError(f"The profile cannot be copied to {logdir}: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _moved(run: Path, target: Path) -> Path:
    """Move ``run`` into ``target`` under its own name, followed by a number if there are runs of this name."""
    taken = [_number(other.name, run.name) for other in target.glob(f"{glob.escape(run.name)}*")]
    for number in itertools.count(max(taken, default=0) + 1):
        try:
            return run.rename(target / (run.name if number == 1 else f"{run.name}_{number:03d}"))
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise  # else another process took the name just now
    raise AssertionError


def _number(name: str, first: str) -> int:
    """Return which run of those that are called ``first`` this is; 0 if none."""
    rest = name.removeprefix(first)
    return 1 if not rest else int(rest[1:]) if rest[0] == "_" and rest[1:].isdecimal() else 0
