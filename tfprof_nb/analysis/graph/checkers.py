"""What tfprof's ``advise`` says of a graph's runs: idle accelerators, slow layouts on GPUs, costly op types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tfprof_nb._units import count, microseconds, percent
from tfprof_nb.analysis.graph.model import COLUMN, GraphModel
from tfprof_nb.analysis.graph.options import GraphOptions
from tfprof_nb.analysis.graph.trees import op_view

_TOP = 3
_LOW_USE, _FAIR_USE = 0.5, 0.9


@dataclass(frozen=True)
class Checker:
    """What one checker found."""

    reports: list[str]


@dataclass(frozen=True)
class GraphAdvice:
    """What each checker found, by its name in tfprof; none means nothing conspicuous."""

    checkers: dict[str, Checker]

    def __str__(self) -> str:
        lines = [f"{name}: {report}" for name, checker in self.checkers.items() for report in checker.reports]
        return "\n".join(lines) or "Nothing conspicuous."


def graph_advice(model: GraphModel, options: Mapping[str, Mapping[str, Any]] | None = None) -> GraphAdvice:
    """Check an average step.

    Raises
    ------
    ValueError
        If ``options`` names a checker that there is not.
    """
    for name in options or ():
        if name not in CHECKERS:
            raise ValueError(f"options: there is no checker {name!r}. There are {', '.join(CHECKERS)}.")
    return GraphAdvice({name: Checker(list(CHECKERS[name](model))) for name in options or CHECKERS})


def _accelerator_use(model: GraphModel) -> Iterable[str]:
    runs = model.intervals[model.intervals["device"].str.contains("stream:all")]
    for device, kernels in runs.groupby("device"):
        spans = kernels.groupby("step").agg(start=("start_us", "min"), busy=("duration_us", "sum"))
        ends = (kernels["start_us"] + kernels["duration_us"]).groupby(kernels["step"]).max()
        share = float(spans["busy"].sum() / (ends - spans["start"]).sum())
        if share < _FAIR_USE:
            level = "low" if share < _LOW_USE else "medium"
            yield f"{device} has {level} utilization: its kernels ran {percent(100 * share)} of the time."


def _layouts(model: GraphModel) -> Iterable[str]:
    nodes = model.nodes
    on_gpu = nodes[nodes["device"].str.contains("gpu") & (nodes["op_type"] == "Conv2D")]
    if len(on_gpu):
        yield f"{count(len(on_gpu))} convolutions ran on a GPU: data_format NCHW is usually faster there."


def _expensive(model: GraphModel) -> Iterable[str]:
    rows = op_view(model, GraphOptions(order_by="micros", max_depth=_TOP - 1))
    whole = rows.total[0, COLUMN["micros"]]
    for name, own in zip(rows.names[1:], rows.own[1:, COLUMN["micros"]], strict=True):
        if own > 0:
            yield f"{name} took {microseconds(own)}, {percent(100 * own / whole)} of an average step."


def _jobs(_: GraphModel) -> Iterable[str]:
    """Return nothing: tfprof's checker of this name only works inside Google."""
    return ()


CHECKERS: dict[str, Callable[[GraphModel], Iterable[str]]] = {
    "ExpensiveOperationChecker": _expensive,
    "AcceleratorUtilizationChecker": _accelerator_use,
    "JobChecker": _jobs,
    "OperationChecker": _layouts,
}
