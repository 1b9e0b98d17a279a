"""The samples of metrics, at the profile's own times."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tfprof_nb._units import NS_PER_MS
from tfprof_nb.decode import Host
from tfprof_nb.decode.sections.machine import Samples, read_samples
from tfprof_nb.decode.sidecar import Sidecar

COLUMNS = ["time_ms", "host", "metric", "value", "unit"]


def sampled(hosts: Sequence[Host], sidecars: Sequence[Sidecar], section: str) -> pd.DataFrame:
    """Return the samples in a section of each host's sidecar (``docs/sidecar.md``), by host, metric and time.

    Only samples from the time of recording count: before it, the profiler starts, and after it, it saves. The last
    earlier sample is moved to time 0, so that a short profile has one too. A value that could not be read is null.

    Returns
    -------
    DataFrame
        ``time_ms host metric value unit``; times count from the start of the profile.
    """
    samples = [sidecar.read(section, read_samples) for sidecar in sidecars]
    frames = [_on_time_of(*pair) for pair in zip(hosts, samples, strict=True)]
    frames = [frame for frame in frames if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)


def _on_time_of(host: Host, samples: Samples) -> pd.DataFrame:
    """Return a host's samples at the profile's own times."""
    if not samples.quantities or not host.began_ns:
        return pd.DataFrame(columns=COLUMNS)
    since_start = samples.times_ns - host.began_ns
    recorded = since_start <= _length_ns(host)
    recorded[: max(np.count_nonzero(since_start < 0) - 1, 0)] = False
    time_ms = np.maximum(since_start, 0)[recorded] / NS_PER_MS
    return pd.concat(
        pd.DataFrame({"time_ms": time_ms, "host": host.name, "metric": metric, "value": values[recorded], "unit": unit})
        for metric, unit, values in samples.quantities
    )


def _length_ns(host: Host) -> float:
    return host.ended_ns - host.began_ns if host.ended_ns else np.inf
