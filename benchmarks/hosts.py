"""Many hosts: time and memory to open a run of 1 to 512 hosts of 100,000 events each, and to tell what slows it.

The hosts are names of one recorded file, so that a run of 512 takes the disk space of one.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.recorded import recorded

COUNTS = (1, 16, 128, 512)
_SAMPLE_S = 0.05


def run_of(file: Path, hosts: int, folder: Path) -> Path:
    """Make a run of so many hosts."""
    run = folder / f"logs-{hosts}/plugins/profile/run"
    run.mkdir(parents=True)
    for host in range(hosts):
        os.link(file, run / f"host-{host:03}.xplane.pb")
    return run


def peak_of_all(stop: threading.Event, peak: list[int]) -> None:
    """Watch the memory of this process and its children, each page counted once."""
    import psutil

    me = psutil.Process()
    while not stop.wait(_SAMPLE_S):
        total = 0
        for process in (me, *me.children(recursive=True)):
            try:
                total += process.memory_full_info().pss
            except psutil.Error:  # it has ended
                continue
        peak[0] = max(peak[0], total)


def measure(path: str) -> None:
    """Open a run, and tell what the dashboard says at once."""
    import tfprof_nb as tp

    stop, peak = threading.Event(), [0]
    watch = threading.Thread(target=peak_of_all, args=(stop, peak))
    watch.start()
    began = time.perf_counter()
    profile = tp.load(path)
    loaded = time.perf_counter() - began
    text = str(profile)
    shown = time.perf_counter() - began - loaded
    digest = profile.to_dict()
    stop.set()
    watch.join()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(one.ru_utime + one.ru_stime for one in used)
    digested = time.perf_counter() - began - loaded - shown
    print(
        f"{len(profile.hosts):4} hosts, {profile.event_count / 1e6:5.1f} million events: load {loaded:6.1f} s, "
        f"str(p) {shown:5.1f} s, to_dict {digested:5.1f} s, processor time {processor:6.1f} s, "
        f"memory at most {peak[0] / 1e6:6.0f} MB ({len(text) + len(str(digest)):,} characters told)",
        flush=True,
    )


def main() -> None:
    """Measure each count in a process of its own."""
    if len(sys.argv) > 2:
        measure(sys.argv[2])
        return
    file = recorded(0.1)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        for hosts in [int(sys.argv[1])] if len(sys.argv) > 1 else COUNTS:
            run = run_of(file, hosts, Path(folder))
            subprocess.run([sys.executable, "-m", "benchmarks.hosts", "of", str(run)], check=True)


if __name__ == "__main__":
    main()
