"""What TensorFlow's profiler should record, and what it did record."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from tfprof_nb.formats.files import XSPACE

EVERYTHING = 3
"""The highest ``host_level``."""


@dataclass(frozen=True)
class Options:
    """What TensorFlow's profiler should record.

    Attributes
    ----------
    host_level
        0 records nothing on the host, 1 the most important events, 2 also ops, 3 everything, also marks of thread
        pools (`capture.trace_level`).
    device_level
        1 records GPUs and TPUs, 0 does not.
    python_level
        1 records every Python call, 0 does not.
    """

    host_level: int = 2
    device_level: int = 1
    python_level: int = 0

    def __post_init__(self) -> None:
        for name, highest in (("host_level", EVERYTHING), ("device_level", 1), ("python_level", 1)):
            level = getattr(self, name)
            if not isinstance(level, Integral) or level not in range(highest + 1):
                raise ValueError(f"{name} must be a whole number from 0 to {highest}, not {level!r}.")

    def for_tensorflow(self) -> dict[str, Any]:
        """Return the options of TensorFlow's profiler session; none for its defaults."""
        if self == Options():
            return {}
        return {
            "host_tracer_level": _Index(self.host_level),
            "device_tracer_level": _Index(self.device_level),
            "python_tracer_level": _Index(self.python_level),
            "delay_ms": _Index(0),
        }

    def note(self) -> str:
        """Return a note if a profile with these options lacks most events."""
        return "" if self.host_level else "This was recorded with host_level=0, without the host's steps and ops."

    def not_obeyed(self, run: Path) -> str:
        """Return which options the files of a run were recorded with instead of these; empty if none differs."""
        differing = {
            f"{name}={recorded[name]} instead of {asked}"
            for recorded in _recorded(run)
            for name, asked in asdict(self).items()
            if recorded[name] != asked
        }
        return ", ".join(sorted(differing))


class _Index:
    """A whole number that is not an int.

    TensorFlow 2.20 and 2.21 mistake an int for another type and ignore it, with a line in their log.
    """

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return int(self._value)


def _recorded(run: Path) -> Iterator[dict[str, int]]:
    """Yield the options that the profiler wrote into each file."""
    from tensorflow.tsl.profiler.protobuf.profiler_options_pb2 import ProfileOptions
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    for file in run.glob(f"*{XSPACE}"):
        for plane in XSpace.FromString(file.read_bytes()).planes:
            for stat in plane.stats:
                if plane.stat_metadata[stat.metadata_id].name == "profile_options":
                    options = ProfileOptions.FromString(stat.bytes_value)
                    yield {
                        "host_level": options.host_tracer_level,
                        "device_level": options.device_tracer_level,
                        "python_level": options.python_tracer_level,
                    }
