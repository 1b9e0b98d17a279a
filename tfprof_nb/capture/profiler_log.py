"""Keep the log lines of TensorFlow's profiler out of the profiled cell's output."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_STDERR = 2
_PROFILER_LINE = re.compile(rb"(profiler_session|save_profile)\.cc:\d+\] (Profiler session|Collecting XSpace)")


@contextmanager
def no_profiler_log() -> Iterator[None]:
    """Drop the profiler's messages about its start and end while the block runs; other lines are written after it.

    TensorFlow writes them from C++ at its default log level, which cannot be changed once it is loaded, and a notebook
    shows them under the cell.
    """
    try:
        original = os.dup(_STDERR)
    except OSError:  # a process without stderr
        yield
        return
    with tempfile.TemporaryFile() as written:
        os.dup2(written.fileno(), _STDERR)
        try:
            yield
        finally:
            os.dup2(original, _STDERR)
            os.close(original)
            written.seek(0)
            for line in written:
                if not _PROFILER_LINE.search(line):
                    os.write(_STDERR, line)
