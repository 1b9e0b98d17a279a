"""Sampled memory of the whole process, for hosts on which TensorFlow recorded no allocation."""

from __future__ import annotations

import pandas as pd

from tfprof_nb.formats.sidecar import PEAK_MEMORY, RESIDENT_MEMORY

PROCESS = "process (sampled)"
NOTE = (
    f"TensorFlow recorded no allocation, so '{PROCESS}' is shown instead: the memory of the whole process (including "
    "Python, TensorFlow and the profiler), sampled 20 times a second. It misses short peaks between two samples, and "
    "does not show what uses the memory. On a CPU, TensorFlow records only allocations of 256 KiB and more, and only "
    "with oneDNN (TF_ENABLE_ONEDNN_OPTS=1)."
)


def process_timeline(samples: pd.DataFrame, name_host: bool) -> pd.DataFrame:
    """Return the samples as rows of a memory timeline: ``time_ms allocator event memory_in_use_bytes``.

    Parameters
    ----------
    samples
        ``time_ms host metric value unit``, as `metrics.sampled` returns them.
    name_host
        Whether the allocator's name starts with its host's.
    """
    in_use = samples[(samples["metric"] == RESIDENT_MEMORY) & samples["value"].notna()]
    return pd.DataFrame(
        {
            "time_ms": in_use["time_ms"],
            "allocator": _allocator(in_use["host"], name_host),
            "event": "sample",
            "memory_in_use_bytes": in_use["value"].astype("int64"),
        }
    )


def process_allocators(samples: pd.DataFrame, name_host: bool) -> pd.DataFrame:
    """Return ``peak_bytes peak_bytes_lifetime peak_time_ms`` of each host's process, by allocator."""
    timeline = process_timeline(samples, name_host)
    in_use = timeline["memory_in_use_bytes"]
    at_peak = timeline[in_use == in_use.groupby(timeline["allocator"]).transform("max")]
    peaks = at_peak.drop_duplicates("allocator", keep="last").set_index("allocator").sort_index()
    peak = samples[samples["metric"] == PEAK_MEMORY]
    lifetime = peak["value"].groupby(_allocator(peak["host"], name_host)).max().reindex(peaks.index)
    in_use = peaks["memory_in_use_bytes"]
    return pd.DataFrame(
        {
            "peak_bytes": in_use,
            # Linux updates its own peak only now and then.
            "peak_bytes_lifetime": lifetime.mask(lifetime < in_use, in_use),
            "peak_time_ms": peaks["time_ms"],
        }
    )


def process_peak(samples: pd.DataFrame) -> float:
    """Return the most memory that a process used while it was sampled, in bytes; NaN if none was."""
    return float(samples.loc[samples["metric"] == RESIDENT_MEMORY, "value"].max())


def _allocator(host: pd.Series[str], name_host: bool) -> pd.Series[str]:
    return (host.astype(str) + f"/{PROCESS}" if name_host else host.map(lambda _: PROCESS)).rename("allocator")
