"""When XLA compiled programs, as it does for each new shape of what a function is given."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest

BACKENDS = ("CpuCompiler::RunBackend", "GpuCompiler::RunBackend")


class Compilations(NamedTuple):
    """How many programs XLA compiled, and in which time."""

    programs: int
    total_ms: float


def compiled(forest: Forest) -> Int64:
    """Return the events in which XLA compiled a program."""
    return np.flatnonzero(np.logical_or.reduce([forest.named(name) for name in BACKENDS]) & forest.on_host)


def host_compilations(forest: Forest) -> Compilations:
    """Add up the compilations of one host."""
    rows = compiled(forest)
    return Compilations(len(rows), int(forest.host.duration_ps[rows].sum()) / PS_PER_MS)


def compilations(forests: Sequence[Forest]) -> Compilations:
    """Add up the compilations of all hosts."""
    of_hosts = [forest.once(host_compilations) for forest in forests]
    return Compilations(sum(one.programs for one in of_hosts), sum(one.total_ms for one in of_hosts))
