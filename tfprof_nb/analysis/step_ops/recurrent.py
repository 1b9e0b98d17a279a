"""The loops over time that Keras' recurrent layers run op by op."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.analysis.step_ops.small_ops import RECURRENT, in_loops, with_costs
from tfprof_nb.analysis.step_ops.step_ops import StepOps

_OF_LARGE_OPS = "ConvLSTM2D"  # convolutions, which XLA made twice as slow


class RecurrentLoops(NamedTuple):
    """What the loops of recurrent layers cost.

    Attributes
    ----------
    layers
        The names of these layers.
    frame
        A line (of `Graphs.frames`) that makes a layer of the model, -1 if none is known.
    per_step
        How many ops the loops run per step, those of the backward pass included.
    mean_us
        How long one of these takes on average.
    product_us
        How long a matrix product among them takes on average.
    cost_share
        The part of the step that they take with the time to start them, 0 to 1.
    """

    layers: tuple[str, ...] = ()
    frame: int = -1
    per_step: float = 0.0
    mean_us: float = 0.0
    product_us: float = 0.0
    cost_share: float = 0.0


def recurrent_loops(ops: StepOps) -> RecurrentLoops:
    """Add up the ops that recurrent layers run for one element of their sequences after another."""
    if not ops.steps:
        return RecurrentLoops()
    layers, (owner, _) = ops.graphs.layers, ops.graphs.once(owners)
    small = layers["type"].isin(RECURRENT) & (layers["type"] != _OF_LARGE_OPS)
    is_recurrent = np.append(small.to_numpy(bool), False)
    owner = np.where(owner < len(layers), owner, -1)
    own = is_recurrent[owner] & ops.once(in_loops)
    nodes = ops.once(with_costs)
    # Nodes of the backward pass do not all tell of which node they are the gradient.
    chosen = nodes[(own | ((owner < 0) & ops.once(in_loops)))[nodes.index]] if own.any() else nodes.iloc[:0]
    count = float(chosen["count"].sum())
    if not count:
        return RecurrentLoops()
    share = float(chosen["cost_ms"].sum()) * ops.steps / max(ops.steps_ms, 1e-9)
    running = layers.iloc[sorted(set(owner[own].tolist()))]
    names = [
        str(name).rpartition("/")[0] or str(name) if str(kind).endswith("Cell") else str(name)
        for name, kind in zip(running["name"], running["type"], strict=True)
    ]
    frame = int(layers["frame"].max())
    products = chosen[(chosen["op"] == "MatMul") & (chosen["op_ms"] > 0)]
    return RecurrentLoops(
        tuple(dict.fromkeys(names)), frame, count, _mean_us(chosen), _mean_us(products), min(share, 1.0)
    )


def _mean_us(nodes: pd.DataFrame) -> float:
    return 1e3 * float(nodes["op_ms"].sum()) / max(float(nodes["count"].sum()), 1.0)
