"""What rules of advice look at: the results of one profile."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.rule import GainOf
from tfprof_nb.analysis.breakdown.breakdown import Breakdown, no_breakdown
from tfprof_nb.analysis.events.compilations import Compilations
from tfprof_nb.analysis.events.framework import Framework
from tfprof_nb.analysis.events.removals import Sleeps
from tfprof_nb.analysis.functions.functions import Functions
from tfprof_nb.analysis.kernels import Kernels, kernels
from tfprof_nb.analysis.memory.memory import Memory, no_memory
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.analysis.overview import Overview, steady_ms
from tfprof_nb.analysis.python import Python
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.source import SourceLines, no_source
from tfprof_nb.analysis.step_ops.step_ops import StepOps, no_step_ops
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.analysis.tf_data.tf_data import TfData
from tfprof_nb.decode.sections.machine import Gpus

_NEARLY_ALL, _THE_TIME = 0.75, "the time"
_MUCH_TRACING = 0.1  # of the time of what it is left out of
_TIME_OF = {"steps": "the steps' time", "training": "the time from the first step to the last", "cell": _THE_TIME}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The results that rules look at.

    ``line_of`` returns the line that gave tf.data the slowest function with a name, or an empty text if that is
    unknown; ``code`` is the text of the program. ``step_ops`` returns the ops of typical steps, ``memory`` memory over
    time, ``source`` the lines of code and ``kernels`` those of GPUs: they are computed on first use. ``idle_devices``
    are the names of devices without work where others have some, and the number of all; ``own_cores`` how many
    processors the program kept busy, and how many it may use.
    """

    overview: Overview
    steps: Steps
    ops: Ops
    functions: Functions
    tf_data: TfData
    python: Python
    line_of: Callable[[str], str] = lambda _name: ""
    code: Code = field(default_factory=lambda: Code({}))
    step_ops: Callable[[], StepOps] = no_step_ops
    memory: Callable[[], Memory] = no_memory
    source: Callable[[], SourceLines] = no_source
    gpus: Sequence[Gpus] = ()
    idle_devices: tuple[Sequence[str], int] = ((), 0)
    own_cores: tuple[float, int] = (math.nan, 0)
    events: int = 0
    kernels: Callable[[], Kernels] = lambda: kernels(())
    compilations: Callable[[], Compilations] = lambda: Compilations(0, 0.0)
    sleeps: Callable[[], Sleeps] = Sleeps
    breakdown: Callable[[], Breakdown] = no_breakdown

    @property
    def framework(self) -> Framework:
        """The framework that ran the program."""
        name: Framework = self.overview.summary["framework"]
        return name

    @property
    def is_tensorflows(self) -> bool:
        """Whether TensorFlow ran the program, so that its cures apply."""
        return self.framework == "tensorflow"

    @property
    def steps_are_elsewhere(self) -> bool:
        """Whether JAX or PyTorch runs Keras' models, of which nothing is recorded."""
        return bool(self.overview.summary["keras_backend"])

    @property
    def steady_ms(self) -> float:
        """The time of the capture without the steps that warm up, whose tracing longer training hides."""
        return steady_ms(self.overview.summary)

    @property
    def ran_on_device(self) -> bool:
        """Whether any op ran on a GPU or a TPU."""
        return bool(self.overview.summary["device_cores"]) or bool((self.ops.table["side"] == "device").any())

    def percent(self, name: str) -> float:
        """Return a percentage of the overview; 0 if it is unknown, so that no rule applies."""
        value = float(self.overview.summary[f"{name}_percent"])
        return 0.0 if math.isnan(value) else value

    def time_of(self, part: GainOf) -> str:
        """Say what a share of a part of the program is a share of: of the time, if the part is nearly all of it."""
        summary = self.overview.summary
        parts_ms = {"steps": float(summary["measured_steps_ms"]), "training": training_ms(self) or math.inf}
        nearly_all = parts_ms.get(part, math.inf) >= _NEARLY_ALL * float(summary["capture_ms"])
        if nearly_all:
            return _THE_TIME
        traces = part == "training" and float(summary["warm_up_steps_ms"]) > _MUCH_TRACING * parts_ms[part]
        return f"{_TIME_OF[part]}{', without tracing' * traces}"

    def of_training(self, percent: float) -> str:
        """Say how much of the time from the first step to the last something takes."""
        return f"{_units.percent(percent)} of {self.time_of('training')}"

    def of_step(self, column: str) -> str:
        """Say how much of the average step a category takes."""
        part, whole = (self.steps.summary[name] for name in (f"{column}_mean", "step_ms_mean"))
        return f"{_units.milliseconds(part)} of the average step's {_units.milliseconds(whole)}"


def trainings(evidence: Evidence) -> pd.DataFrame:
    """Return the phases of the cell in which a model trains and whose places are known, the longest first."""
    tree = evidence.breakdown().table
    found = tree[(tree["kind"] == "phase") & tree["id"].str.fullmatch("cell/train(@[^/]*)?") & (tree["place"] != "")]
    return found.sort_values("total_ms", ascending=False, kind="stable")


def training_ms(evidence: Evidence) -> float:
    """Return the time from each host's first step to its last, without warm-up steps; with them if there are no others.

    Warm-up steps are much longer: in shares of their time, nothing that runs in every step would matter.
    """
    table = evidence.steps.table
    if table.empty:
        return 0.0
    start_ms, step_ms = table["start_ms"].to_numpy(np.float64), table["step_ms"].to_numpy(np.float64)
    warm_up, (host, names) = table["warm_up"].to_numpy(dtype=bool), pd.factorize(table["host"])
    first_ms, last_ms = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    np.minimum.at(first_ms, host, start_ms)
    np.maximum.at(last_ms, host, start_ms + step_ms)
    return float((last_ms - first_ms).sum()) - (0.0 if warm_up.all() else float(step_ms[warm_up].sum()))
