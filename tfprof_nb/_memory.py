"""How much memory this process can still take."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# A container's limit and use, in the two versions of Linux' control groups, and the part of the use that is only cache.
_CONTAINERS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)
_GROUPS = Path("/sys/fs/cgroup")


def free_bytes() -> int:
    """Return how much memory this process can still take: of the machine's, its container's and its own limit."""
    import psutil

    limits = [int(psutil.virtual_memory().available), *_free_of_container(_GROUPS), *_free_of_process()]
    return max(0, min(limits))


def _free_of_container(groups: Path) -> Iterator[int]:
    for limit, used, statistics, cache in _CONTAINERS:
        with suppress(OSError, ValueError):  # no such file; no limit ("max")
            numbers = dict(line.split() for line in (groups / statistics).read_text().splitlines())
            yield int((groups / limit).read_text()) - int((groups / used).read_text()) + int(numbers.get(cache, 0))


def _free_of_process() -> Iterator[int]:
    if sys.platform == "win32":
        return
    import resource

    import psutil

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        yield limit - psutil.Process().memory_info().vms
