"""The checkers of tfprof's ``advise``: idle accelerators, slow layouts on GPUs, expensive op types."""

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
    """The reports of one checker."""

    reports: list[str]


@dataclass(frozen=True)
class GraphAdvice:
    """The reports of each checker, by its name in tfprof; no reports mean nothing conspicuous."""

    checkers: dict[str, Checker]

    def __str__(self) -> str:
        lines = [f"{name}: {report}" for name, checker in self.checkers.items() for report in checker.reports]
        return "\n".join(lines) or "Nothing conspicuous."


def graph_advice(
    model: GraphModel, data_formats: Mapping[str, str], options: Mapping[str, Mapping[str, Any]] | None = None
) -> GraphAdvice:
    """Check an average step.

    Parameters
    ----------
    data_formats
        The ``data_format`` of nodes, by name.
    options
        The checkers to run, by name; None runs all.

    Raises
    ------
    ValueError
        If ``options`` names an unknown checker.
    """
    for name in options or ():
        if name not in CHECKERS:
            raise ValueError(f"options: there is no checker {name!r}. There are {', '.join(CHECKERS)}.")
    return GraphAdvice({name: Checker(list(CHECKERS[name](model, data_formats))) for name in options or CHECKERS})


def _accelerator_use(model: GraphModel, _: Mapping[str, str]) -> Iterable[str]:
    runs = model.intervals[model.intervals["device"].str.contains("stream:all")]
    for device, kernels in runs.groupby("device"):
        spans = kernels.groupby("step").agg(start=("start_us", "min"), busy=("duration_us", "sum"))
        ends = (kernels["start_us"] + kernels["duration_us"]).groupby(kernels["step"]).max()
        share = float(spans["busy"].sum() / (ends - spans["start"]).sum())
        if share < _FAIR_USE:
            level = "low" if share < _LOW_USE else "medium"
            yield f"{device} has {level} utilization: its kernels ran for {percent(100 * share)} of the time."


def _layouts(model: GraphModel, data_formats: Mapping[str, str]) -> Iterable[str]:
    """Report convolutions in NHWC: cuDNN computes in NCHW unless tensor cores take 16-bit data."""
    nodes = model.nodes
    on_gpu = nodes[nodes["device"].str.contains("gpu") & (nodes["op_type"] == "Conv2D")]
    if slow := int((on_gpu["name"].map(data_formats) == "NHWC").sum()):
        yield (
            f"{count(slow)} convolutions ran on a GPU with data_format NHWC: NCHW is usually faster there, except for "
            "16-bit types on tensor cores."
        )


def _expensive(model: GraphModel, _: Mapping[str, str]) -> Iterable[str]:
    rows = op_view(model, GraphOptions(order_by="micros", max_depth=_TOP - 1))
    whole = rows.total[0, COLUMN["micros"]]
    for name, own in zip(rows.names[1:], rows.own[1:, COLUMN["micros"]], strict=True):
        if own > 0:
            yield f"{name} took {microseconds(own)}, {percent(100 * own / whole)} of an average step."


def _jobs(_: GraphModel, __: Mapping[str, str]) -> Iterable[str]:
    """Report nothing: tfprof's checker of this name only works inside Google."""
    return ()


CHECKERS: dict[str, Callable[[GraphModel, Mapping[str, str]], Iterable[str]]] = {
    "ExpensiveOperationChecker": _expensive,
    "AcceleratorUtilizationChecker": _accelerator_use,
    "JobChecker": _jobs,
    "OperationChecker": _layouts,
}
