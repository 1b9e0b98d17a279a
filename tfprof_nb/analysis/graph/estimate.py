"""What a graph would take on a device that is only described: an estimate from shapes, not a measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb.analysis.graph.model import OUTSIDE, GraphModel
from tfprof_nb.analysis.result import Result

# What these give lies where what they take lies, or is a variable: nothing is computed, written or held for it.
_FREE_OPS = frozenset(
    {
        "Identity",
        "IdentityN",
        "Reshape",
        "Squeeze",
        "ExpandDims",
        "ReadVariableOp",
        "VarHandleOp",
        "Const",
        "NoOp",
        "_Arg",
    }
)
_INFERENCE_PHASES = ("forward", "")
_NOTES = (
    """This is an estimate from shapes, not a measurement: each op takes as long as its float ops or its bytes take at
the device's peak, whichever is longer; no time is counted between ops, and none is saved by fusing them.""",
    """Memory is that of the variables and of the tensors that are alive at the worst moment, in the order in which the
graph was made.""",
)
_NOTHING = "There is nothing to estimate: no function is described beside this profile."


@dataclass(frozen=True)
class Target:
    """A device: the most float ops and bytes per second that it reaches, and its memory."""

    peak_flops_per_s: float
    bandwidth_bytes_per_s: float
    memory_bytes: float


class Estimate(Result):
    """An estimate; `table` has the rows ``training`` and ``inference``.

    Its columns: ``parameter_bytes`` (of the variables, the optimizer's included in training), ``peak_live_bytes``
    (these and the tensors alive at the worst moment), ``fits`` (whether the device has as much), ``float_ops`` and
    ``moved_bytes`` of one step, ``time_bound_us`` (what a step takes by the roofline) and ``bound_by`` (what most of
    this time goes to: ``compute`` or ``memory``).
    """


def estimate(model: GraphModel, device: Target | Mapping[str, float]) -> Estimate:
    """Estimate what one step takes on a device.

    Raises
    ------
    ValueError
        If the device lacks a number, or has one that is not positive.
    """
    target = _target(device)
    if not (model.nodes["function"] >= 0).any():
        return Estimate(pd.DataFrame(), {"estimate": True, "nodes": 0}, [_NOTHING])
    nodes, inputs = _largest_function(model)
    unknown = int(nodes["graph_float_ops"].isna().sum())
    phases = {"training": nodes.index, "inference": nodes.index[nodes["phase"].isin(_INFERENCE_PHASES)]}
    if len(phases["inference"]) == len(nodes):
        del phases["training"]
    rows = [_row(nodes.loc[chosen], inputs, target) for chosen in phases.values()]
    table = pd.DataFrame(rows, index=pd.Index(list(phases), name="use"))
    notes = [
        *(note.replace("\n", " ") for note in _NOTES),
        f"The float ops of {unknown:,} of {len(nodes):,} nodes are not known: their bytes alone count.",
    ]
    return Estimate(table, {"estimate": True, "nodes": len(nodes)}, notes)


def _target(device: Target | Mapping[str, float]) -> Target:
    names = [field.name for field in fields(Target)]
    given = device if isinstance(device, Mapping) else vars(device)
    for name in [*given, *names]:
        if name not in names:
            raise ValueError(f"device: there is no {name!r}. Give {', '.join(names)}.")
        if not isinstance(given.get(name), int | float) or not given[name] > 0:
            raise ValueError(f"device: {name} must be a number above 0. Give {', '.join(names)}.")
    return Target(**given)


def _largest_function(model: GraphModel) -> tuple[pd.DataFrame, Sequence[Sequence[int]]]:
    """Return the nodes of the function with the most float ops: a step, where others evaluate or initialise."""
    scope = model.nodes["name"].str.partition("/")[0]
    inside = model.nodes[scope != OUTSIDE]
    by_scope = inside["graph_float_ops"].fillna(0).groupby(scope[inside.index]).sum()
    several = model.nodes["function"].any()
    chosen = inside[scope[inside.index] == by_scope.idxmax()] if several and len(by_scope) else inside
    return chosen, model.inputs


def _row(nodes: pd.DataFrame, inputs: Sequence[Sequence[int]], target: Target) -> dict[str, Any]:
    computed = ~nodes["op_type"].isin(_FREE_OPS)
    moved = (nodes["input_bytes"] + nodes["output_bytes"]).where(computed, 0)
    compute_us = nodes["graph_float_ops"].fillna(0) / target.peak_flops_per_s * 1e6
    memory_us = moved / target.bandwidth_bytes_per_s * 1e6
    longer = np.maximum(compute_us, memory_us)
    parameter_bytes = int(nodes["output_bytes"].where(nodes["holds_variable"], 0).sum())
    peak = parameter_bytes + _most_alive(nodes["output_bytes"].where(computed, 0), inputs)
    return {
        "parameter_bytes": parameter_bytes,
        "peak_live_bytes": peak,
        "fits": peak <= target.memory_bytes,
        "float_ops": float(nodes["graph_float_ops"].sum()),
        "moved_bytes": int(moved.sum()),
        "time_bound_us": float(longer.sum()),
        "bound_by": "compute" if longer[compute_us >= memory_us].sum() * 2 >= longer.sum() else "memory",
    }


def _most_alive(output_bytes: pd.Series[int], inputs: Sequence[Sequence[int]]) -> int:
    """Return the most bytes that are alive at once, if each node's output is held until the last node that takes it."""
    place = {node: k for k, node in enumerate(output_bytes.index)}
    last = np.arange(len(place) + 1)
    for node, k in place.items():
        for source in inputs[node]:
            if source in place:
                last[place[source]] = max(last[place[source]], k)
    change = np.zeros(len(place) + 1)
    sizes = output_bytes.to_numpy()
    np.add.at(change, np.arange(len(place)), sizes)
    np.add.at(change, last[:-1] + 1, -sizes)
    return int(change.cumsum().max(initial=0))
