"""What a process writes until it is whole: a name that tells the process, and the removal of what killed ones left."""

import glob
import os
import shutil
import socket
import time
import uuid
import zlib
from contextlib import suppress
from pathlib import Path

_ABANDONED_S = 24 * 60 * 60


def maker() -> str:
    """Return the beginning of a name, which tells this process from those of other machines on a shared disk."""
    return f"{os.getpid()}-{_machine()}-"


def this_process() -> str:
    """Return what tells this process from all others, also from later ones of its number."""
    import psutil

    return f"{maker()}{psutil.Process().create_time():.0f}"


def remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove what begins with a prefix and is of processes of this machine that are gone, or unchanged for a day."""
    for path in folder.glob(f"{glob.escape(prefix)}*"):
        with suppress(OSError):  # its process may be ending
            if _maker_is_gone(path.name.removeprefix(prefix)) or _changed_s(path) < time.time() - _ABANDONED_S:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _maker_is_gone(name: str) -> bool:
    import psutil

    process, _, rest = name.partition("-")
    return process.isdigit() and rest.startswith(f"{_machine()}-") and not psutil.pid_exists(int(process))


def _machine() -> str:
    """Return a name of this machine (in a container, of the container)."""
    return f"{zlib.crc32(f'{socket.gethostname()} {uuid.getnode()}'.encode()):08x}"


def _changed_s(path: Path) -> float:
    return max(one.stat().st_mtime for one in (path, *path.rglob("*")))
