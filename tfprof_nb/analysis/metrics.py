"""What was sampled beside the capture, on the profile's own time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb.decode import Host

COLUMNS = ["time_ms", "host", "metric", "value", "unit"]
_NS_PER_MS = 1e6


def sampled(hosts: Sequence[Host], sections: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the samples of a section of each host's sidecar (``docs/sidecar.md``), by host, metric and time.

    Only what was sampled while the profiler recorded counts: before, it starts, and afterwards, it saves. The last
    sample from before stands at time 0, so that a short profile has one too. A value that could not be read is null.

    Returns
    -------
    DataFrame
        ``time_ms host metric value unit``; times count from the start of the profile.
    """
    frames = [
        _of_host(host, section) for host, section in zip(hosts, sections, strict=True) if section and _began_ns(host)
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)


def _of_host(host: Host, section: Mapping[str, Any]) -> pd.DataFrame:
    since_start = np.array(section["times_ns"], dtype=np.int64) - _began_ns(host)
    recorded = since_start <= _length_ns(host)
    recorded[: max(np.count_nonzero(since_start < 0) - 1, 0)] = False
    time_ms = np.maximum(since_start, 0)[recorded] / _NS_PER_MS
    return pd.concat(
        pd.DataFrame(
            {
                "time_ms": time_ms,
                "host": host.name,
                "metric": one["metric"],
                "value": np.array(one["values"], dtype=np.float64)[recorded],
                "unit": one["unit"],
            }
        )
        for one in section["series"]
    )


def _began_ns(host: Host) -> int:
    """When the profile's time began, in nanoseconds since 1970; 0 where the file does not tell."""
    return host.origin_ns or _environment(host, "profile_start_time")


def _length_ns(host: Host) -> float:
    stopped = _environment(host, "profile_stop_time")
    return stopped - _began_ns(host) if stopped else np.inf


def _environment(host: Host, stat: str) -> int:
    return next((int(plane.stats[stat]) for plane in host.planes if stat in plane.stats), 0)
