import re
from collections.abc import Sequence
from itertools import takewhile

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.source.layer_frames import TRAINING_CALLS
from tfprof_nb.analysis.step_ops.repeated import has_chance, repeated, trains
from tfprof_nb.analysis.step_ops.step_ops import StepOps
from tfprof_nb.decode.sections.graphs import Graphs

_WORTH_CACHING_PERCENT = 30.0
_LEAST_SAVED = 0.7
_MOST_OF_TIME = 0.02
_FROZEN = "The frozen model "
_MADE_FROZEN = r"\.trainable *= *False"
_MAKES_ITERATORS = r"MakeIterator|OneShotIterator"
_NUMBER = re.compile(r"(_\d+)+$")

RULE = Rule(
    "frozen-layers-each-epoch",
    "Frozen layers compute the same features in every epoch",
    "Looks for ops that depend on the batch only, neither on weights that are trained nor on random numbers, in front "
    "of the part of the model that is trained.",
    "For the same data they compute the same features in each epoch. Computed once, the features can be kept.",
    action="Compute the frozen layers' features once",
    page="source",
    moderate=10.0,
    high=25.0,
    saved=(0.7, None),
    supersedes=("dominant-op", "dominant-layer"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    if ops.graphs.nodes.empty or ops.ops.empty:
        return
    of_data = ops.graphs.once(repeated).of_data
    nodes, epochs = ops.graphs.nodes, evidence.steps.table["epoch"].dropna()
    of_layers = of_data & nodes["phase"].isin(["forward", ""]).to_numpy(bool)
    share = ops.share(ops.ran(of_layers))
    percent = 100 * share.covered
    if 100 * share.alone < _WORTH_CACHING_PERCENT or not trains(ops.graphs) or has_chance(ops.graphs):
        return
    if len(set(epochs)) == 1:  # what is computed once needs no cache
        return
    if not len(epochs) and not _reads_again(evidence):
        return
    # One pass over the data is left; of a loop the number of passes is not known.
    least, most = (1 - 1 / epochs.nunique(),) * 2 if len(epochs) else (0.5, 1.0)
    what, place = _what(ops, of_layers)
    if not what:
        return
    place = place or (evidence.code.place_with(_MADE_FROZEN) if what.startswith(_FROZEN) else "")
    once = f"once, before training{', with its predict method' * what.startswith(_FROZEN)}"
    again = "If the epochs read the same data" if len(epochs) else "If the loop reads the same data several times"
    yield Case(
        percent,
        f"{what} computes the same features in every epoch",
        f"{_units.percent(percent)} of each step is spent on ops that depend only on the batch: neither on weights "
        f"that are trained nor on random numbers.{f' They begin at {place}.' if place else ''}",
        f"{again}, and no other code changes the weights, compute these features {once}, and train the rest of the "
        "model on them.",
        place,
        gain=(100 * most * share.of_ops, 100 * _LEAST_SAVED * least * share.alone, 100 * most * share.of_ops),
    )


def _reads_again(evidence: Evidence) -> bool:
    """Whether a loop of the program goes through a dataset several times: batches that it makes itself may be new."""
    ops = evidence.ops.table
    iterators = ops.loc[ops["op_type"].astype(str).str.fullmatch(_MAKES_ITERATORS), "occurrences"].sum()
    given = evidence.python.calls["call"].astype(str).str.endswith("_on_batch").any()
    return len(evidence.tf_data.table) > 0 and iterators > 1 and not given


def _what(ops: StepOps, chosen: Bools) -> tuple[str, str]:
    """Return what people call the ops, a model or a layer, and the line that makes the first."""
    graphs, op_ms = ops.graphs, ops.per_node["op_ms"]
    every = op_ms[chosen[op_ms.index]]
    own = every[every >= _MOST_OF_TIME * every.sum()]
    nodes = graphs.nodes.loc[own.index].assign(op_ms=own)
    in_layers = nodes[nodes["layer"] >= 0]
    frames = [frame for trace in nodes["trace"] for frame in graphs.traces[trace][:1]] if len(nodes) else []
    made = [int(graphs.layers["frame"].iloc[layer]) for layer in in_layers["layer"]]
    texts = graphs.frames["text"]
    made_by_user = [frame for frame in frames if not re.search(TRAINING_CALLS, str(texts.iloc[frame]))]
    place = ops.place(next((frame for frame in [*made, *made_by_user] if frame >= 0), -1))
    if in_layers["op_ms"].sum() < own.sum() / 2:
        function = str(graphs.frames["function"].iloc[made_by_user[0]]) if made_by_user else ""
        return (function if function.isidentifier() else place), place
    model = _model(graphs, in_layers["name"].tolist())
    names = graphs.layers["name"].str.rpartition("/")[2]
    if len(set(in_layers["layer"])) == 1:
        return f"The layer {names.iloc[in_layers['layer'].iloc[0]]}", place
    return (f"{_FROZEN}{model}" if model else f"The part up to the layer {names.iloc[_last(graphs, every)]}", place)


def _last(graphs: Graphs, op_ms: pd.Series) -> int:
    """Return the last layer of some ops, also where its own take little: that in the function with most of the time."""
    nodes = graphs.nodes.loc[op_ms.index].assign(op_ms=op_ms)
    largest = nodes.groupby("function")["op_ms"].sum().idxmax()
    layers = nodes.loc[(nodes["function"] == largest) & (nodes["layer"] >= 0), "layer"]
    return int(layers.iloc[-1])


def _model(graphs: Graphs, names: Sequence[str]) -> str:
    """Return the model of which nodes are a part, if nothing in it is trained; else an empty text."""
    levels = zip(*(name.split("/")[:-1] for name in names), strict=False)
    scope = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]
    nodes, variables = graphs.nodes, graphs.variables
    of_weights = nodes["name"][np.append(variables["trainable"].to_numpy(bool), False)[nodes["variable"]]]
    trained = of_weights.astype(str).str.startswith("/".join([*scope, ""])).any()
    return "" if trained or not scope else _NUMBER.sub("", scope[-1])
