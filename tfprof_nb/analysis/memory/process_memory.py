"""Memory of the whole process, sampled: what is known where TensorFlow recorded no allocation."""

from __future__ import annotations

import pandas as pd

PROCESS = "process (sampled)"
NOTE = (
    f"TensorFlow recorded no allocation, so '{PROCESS}' stands in: the memory of the whole process (Python, TensorFlow "
    "and the profiler too), read 20 times a second. A short peak between two readings is missed, and what takes "
    "the memory is not known. On a CPU, TensorFlow records allocations of 256 KiB and more, and only where oneDNN is "
    "on (TF_ENABLE_ONEDNN_OPTS=1)."
)
_HELD, _HIGHEST = "process memory", "peak process memory"


def process_timeline(samples: pd.DataFrame, name_host: bool) -> pd.DataFrame:
    """Return the samples as rows of a memory timeline: ``time_ms allocator event memory_in_use_bytes``.

    Parameters
    ----------
    samples
        ``time_ms host metric value unit``, as `metrics.sampled` gives them.
    name_host
        Whether the allocator's name starts with its host's.
    """
    held = samples[(samples["metric"] == _HELD) & samples["value"].notna()]
    return pd.DataFrame(
        {
            "time_ms": held["time_ms"],
            "allocator": _allocator(held["host"], name_host),
            "event": "sample",
            "memory_in_use_bytes": held["value"].astype("int64"),
        }
    )


def process_allocators(samples: pd.DataFrame, name_host: bool) -> pd.DataFrame:
    """Return ``peak_bytes peak_bytes_lifetime peak_time_ms`` of each host's process, by allocator."""
    timeline = process_timeline(samples, name_host)
    in_use = timeline["memory_in_use_bytes"]
    at_peak = timeline[in_use == in_use.groupby(timeline["allocator"]).transform("max")]
    peaks = at_peak.drop_duplicates("allocator", keep="last").set_index("allocator").sort_index()
    highest = samples[samples["metric"] == _HIGHEST]
    lifetime = highest["value"].groupby(_allocator(highest["host"], name_host)).max().reindex(peaks.index)
    in_use = peaks["memory_in_use_bytes"]
    return pd.DataFrame(
        {
            "peak_bytes": in_use,
            # Linux brings its own highest up to date only now and then.
            "peak_bytes_lifetime": lifetime.mask(lifetime < in_use, in_use),
            "peak_time_ms": peaks["time_ms"],
        }
    )


def _allocator(host: pd.Series[str], name_host: bool) -> pd.Series[str]:
    return (host.astype(str) + f"/{PROCESS}" if name_host else host.map(lambda _: PROCESS)).rename("allocator")
