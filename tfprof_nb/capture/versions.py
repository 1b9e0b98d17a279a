"""Which TensorFlow ran: the same work takes other times in other versions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.capture.tensorflow import tensorflow
from tfprof_nb.formats.sidecar import VersionsSection


@contextmanager
def versions() -> Iterator[Gather]:
    """Collect TensorFlow's version."""
    yield lambda: VersionsSection(tensorflow=tensorflow().__version__)
