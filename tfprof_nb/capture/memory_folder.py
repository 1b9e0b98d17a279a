"""A folder in memory, to which TensorFlow saves a profile before it goes to disk: a full disk loses nothing."""

import ctypes
import uuid
import weakref
from contextlib import suppress
from pathlib import Path, PurePosixPath

from tfprof_nb.capture.tensorflow import tensorflow

_COPIED_BYTES = 16 << 20


class MemoryFolder:
    """A folder in the memory of this process, in a file system of TensorFlow's.

    Attributes
    ----------
    path
        Its path for TensorFlow.
    """

    def __init__(self) -> None:
        self.path = f"ram://tfprof_nb/{uuid.uuid4().hex}"
        weakref.finalize(self, _remove, self.path).atexit = False

    def copy_to(self, folder: Path) -> None:
        """Copy the files to a folder on disk, under their paths here.

        Raises
        ------
        OSError
            They cannot be written; the part that was written is removed.
        """
        files = tensorflow().io.gfile
        for found, _, names in files.walk(self.path):
            for name in names:
                source = PurePosixPath(found.removeprefix(self.path).strip("/"), name)
                _copy(f"{self.path}/{source}", folder / source)

    def clear(self) -> None:
        """Remove the files, and give their memory back to the system."""
        _remove(self.path)
        with suppress(OSError, AttributeError):  # a C library of another kind
            ctypes.CDLL(None).malloc_trim(0)


def _copy(source: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tensorflow().io.gfile.GFile(source, "rb") as stream, target.open("wb") as file:
            while part := stream.read(_COPIED_BYTES):
                file.write(part)
    except OSError:
        target.unlink(missing_ok=True)
        raise


def _remove(path: str) -> None:
    files = tensorflow().io.gfile
    if files.exists(path):
        files.rmtree(path)
