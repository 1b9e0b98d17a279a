"""What comparisons of runs use of one profile."""

from dataclasses import dataclass

from tfprof_nb.analysis.compare.pace import Pace
from tfprof_nb.analysis.compare.work import Work
from tfprof_nb.analysis.kernels import Kernels
from tfprof_nb.analysis.memory.memory import Memory
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.analysis.steps.steps import Steps


@dataclass(frozen=True, eq=False)
class Measured:
    """One run's results, what it got done in which time, and what disturbed it.

    Attributes
    ----------
    other_load
        The share of the processors' time that other programs took, 0 to 1; NaN if it is unknown.
    began_ns
        When it began, in nanoseconds since 1970; 0 if that is unknown.
    """

    steps: Steps
    ops: Ops
    kernels: Kernels
    memory: Memory
    pace: Pace
    work: Work
    other_load: float
    name: str
    began_ns: int = 0
