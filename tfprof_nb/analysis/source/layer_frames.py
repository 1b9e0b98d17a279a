"""The line of each layer: that makes it, or the first that computes with it."""

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.source.owners import PARTS, READS, owners
from tfprof_nb.analysis.source.placed_ops import creating_frames
from tfprof_nb.decode.sections.graphs import Graphs

# Lines with these only train a model: they make none of its ops.
TRAINING_CALLS = r"\.(?:fit|evaluate|predict|train_on_batch|test_on_batch|predict_on_batch)\("
_HOLD = (*READS, "VarHandleOp", "VariableV2")  # a variable's value: nodes that do not compute with it


def layer_frames(graphs: Graphs) -> Int64:
    """Return the line of each layer, and after the last of each variable, as rows of `Graphs.frames`; -1 if unknown.

    Where it is not known what makes a layer, it is the line of the first op of its forward pass that computes.
    """
    layers, nodes = graphs.layers, graphs.nodes
    layer, part = graphs.once(owners)
    frame = graphs.once(creating_frames)
    trains = graphs.frames["text"].astype(str).str.contains(TRAINING_CALLS).to_numpy(bool)
    own = np.flatnonzero(
        (layer >= 0) & (part == PARTS.index("forward")) & (frame >= 0) & ~np.append(trains, False)[frame]
    )
    ops = pd.DataFrame(
        {"layer": layer[own], "frame": frame[own], "holds": nodes["op"].iloc[own].isin(_HOLD).to_numpy()}
    )
    first = ops.sort_values("holds", kind="stable").drop_duplicates("layer").set_index("layer")["frame"]
    computing = first.reindex(range(len(layers) + len(graphs.variables)), fill_value=-1).to_numpy(np.int64)
    made = np.append(layers["frame"].to_numpy(np.int64), np.full(len(graphs.variables), -1))
    return np.where(made >= 0, made, computing)
