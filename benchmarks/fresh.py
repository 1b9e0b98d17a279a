"""Measure a piece of work in a fresh process, on a copy of a file that has no caches beside it."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

_MEASURE = """
import json, resource, sys, time
path = sys.argv[1]
begin = time.perf_counter()
{imports}
ready = time.perf_counter()
told = None
{work}
end = time.perf_counter()
try:  # a new process inherits the peak that getrusage tells from the one that started it
    own = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
except FileNotFoundError:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peak = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
print(json.dumps([ready - begin, end - ready, peak / 1024, told]))
"""


class Contender(NamedTuple):
    """Code to compare: what it imports first, and the work, on the file ``path``. It can set ``told`` to a number.

    With ``again`` the work was done before, by a process that ended: what it left in our cache is there.
    """

    imports: str
    work: str
    again: bool = False


class Measured(NamedTuple):
    """Medians: seconds of the imports and of the work; peak resident memory; what the work told; all times of work.

    The peak is the largest of the process and of what it starts.
    """

    import_s: float
    work_s: float
    peak_mb: float
    told: float | None
    runs_s: tuple[float, ...] = ()

    @property
    def all_s(self) -> float:
        """Imports and work together."""
        return self.import_s + self.work_s


def compare(file: Path, contenders: dict[str, Contender], repeats: int) -> dict[str, Measured]:
    """Measure all contenders in turn, several times over, so that a slow moment of the machine meets all of them."""
    runs: dict[str, list[Measured]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, contender in contenders.items():
            runs[name].append(_once(file, contender))
    return {name: _median(measured) for name, measured in runs.items()}


def _once(file: Path, contender: Contender) -> Measured:
    code = _MEASURE.format(imports=contender.imports, work=contender.work)
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(file, Path(folder) / "host.xplane.pb")
        cache = {"XDG_CACHE_HOME": folder, "TFPROF_NB_CACHE": "" if contender.again else "off"}
        for _ in range(1 + contender.again):
            done = subprocess.run(
                [sys.executable, "-c", code, copy], check=True, capture_output=True, text=True, env=os.environ | cache
            )
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def _median(runs: list[Measured]) -> Measured:
    import_s, work_s, peak_mb = (statistics.median(column) for column in list(zip(*runs, strict=True))[:3])
    return Measured(import_s, work_s, peak_mb, runs[0].told, tuple(sorted(run.work_s for run in runs)))
