import math

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.memory.memory import Memory

_MIN_USED, _MIN_FREE = 0.7, 0.05  # of the allocator's memory

RULE = Rule(
    "fragmented-memory",
    "Free memory lies in pieces",
    "Looks for a nearly full allocator whose largest free piece is smaller than what an op of the program requests.",
    "An allocation needs one piece: with many small ones, a program runs out of memory though enough is free.",
    page="memory",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    found = _fragmented(evidence.memory())
    if found.empty:
        return
    worst = found.sort_values("free_bytes").iloc[-1]
    sizes = ("largest_bytes", "free_bytes", "peak_bytes", "capacity_bytes", "request_bytes")
    size = {name: _units.size(float(worst[name])) for name in sizes}
    yield Case(
        math.nan,
        f"Free memory of {worst.name} lies in pieces: the largest has {size['largest_bytes']} of {size['free_bytes']}",
        f"At the peak, {size['peak_bytes']} of {size['capacity_bytes']} was in use. An op of this program requests "
        f"{size['request_bytes']} at once, for which no piece is large enough: it can run out of memory though enough "
        "is free.",
        "Let tensors have the same sizes in each step: batches of one size (`drop_remainder=True`), sequences padded "
        "to one length, or to few (`bucket_by_sequence_length`). Or set `TF_GPU_ALLOCATOR=cuda_malloc_async` before "
        "TensorFlow starts. What other programs hold on this device (`nvidia-smi` lists them) is missing as well.",
        severity="medium",
    )


def _fragmented(memory: Memory) -> pd.DataFrame:
    """Return the nearly full allocators whose largest free piece is smaller than what an op requested."""
    limited = memory.allocators[memory.allocators["capacity_bytes"].notna()]
    used, free = (limited[name] / limited["capacity_bytes"] for name in ("peak_bytes", "free_bytes"))
    full = limited[(used >= _MIN_USED) & (free >= _MIN_FREE)]
    if full.empty:
        return full
    pieces = full.assign(
        largest_bytes=full["free_bytes"].astype(float) * (1 - full["fragmentation"]),
        request_bytes=[memory.timeline_of(str(name))["requested_bytes"].max() for name in full.index],
    )
    return pieces[pieces["largest_bytes"] < pieces["request_bytes"]]
