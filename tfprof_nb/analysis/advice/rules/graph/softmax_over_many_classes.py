import re

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.source.layer_frames import TRAINING_CALLS, layer_frames
from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.analysis.step_ops.repeated import trains
from tfprof_nb.analysis.step_ops.shapes import PRODUCTS, last_dimension, origin_of
from tfprof_nb.analysis.step_ops.step_ops import StepOps
from tfprof_nb.decode.sections.graphs import Graphs

_MANY = 5000  # classes
_DENSE_LOSS = "SoftmaxCrossEntropyWithLogits"
_SOFTMAX = ("Softmax", "LogSoftmax", "SparseSoftmaxCrossEntropyWithLogits", _DENSE_LOSS)
# With a sample, a step has few of the scores; but an optimizer with moments still updates the weights of all classes.
_LEAST_SAVED = 0.5

RULE = Rule(
    "softmax-over-many-classes",
    "A softmax over very many classes is trained in full",
    "Looks for a trained softmax, or its loss, over 5,000 classes or more.",
    "Each example computes the scores of all classes and their gradients, though few of them matter for its loss. A "
    "sampled softmax computes some.",
    action="Train on a sample of the classes",
    page="ops",
    moderate=30.0,
    high=50.0,
    saved=(0.5, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    graphs = ops.graphs
    scoring, classes = _scores(graphs) if ops.steps and trains(graphs) else (-1, 0)
    if scoring < 0:
        return
    owner, part = graphs.once(owners)
    wide = np.array([last_dimension(str(made)) == classes for made in graphs.nodes["outputs"]], dtype=bool)
    takes = np.array([last_dimension(str(taken)) == classes for taken in graphs.nodes["takes"]], dtype=bool)
    own = wide | takes | ((owner == owner[scoring]) & (owner[scoring] >= 0))
    percent, updating = (ops.percent(nodes) for nodes in (own, own & (part == 2)))
    layer, place = _layer(ops, int(owner[scoring]), scoring)
    yield Case(
        percent,
        saved=(_LEAST_SAVED * (percent - updating) / (percent or 1.0), 1.0),
        finding=f"A softmax over {_units.count(classes)} classes takes {_units.percent(percent)} of each step"
        f"{layer and f': {layer}'}",
        evidence=f"For each example, it computes the scores of all classes and their gradients"
        f"{', and each step updates the weights of all classes' * (updating > 0)}.{_one_hot(graphs, classes)}",
        fix=f"Train on a sample of the classes: tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, "
        f"num_sampled=100, num_classes={classes}), with a row of weights for each class. Its loss is an estimate, "
        "for training only: evaluate and predict with all classes. Fewer classes help too: keep the frequent "
        "ones, and let one stand for the others.",
        place=place,
    )


def _scores(graphs: Graphs) -> tuple[int, int]:
    """Return the product with a weight that gives the softmax with most classes its scores, and their number; or -1."""
    nodes = graphs.nodes
    op, inputs, made = (nodes[name].tolist() for name in ("op", "inputs", "outputs"))
    takes = [last_dimension(str(taken)) for taken in nodes["takes"]]
    softmax = [node for node, kind in enumerate(op) if kind in _SOFTMAX and inputs[node] and takes[node] >= _MANY]
    for node in sorted(softmax, key=lambda one: -takes[one]):
        scoring = node
        while scoring >= 0 and op[scoring] not in PRODUCTS:
            wide = (source for source in inputs[scoring] if last_dimension(str(made[source])) == takes[node])
            scoring = next(wide, -1)
        if scoring >= 0 and any(op[origin_of(source, op, inputs)] == "ReadVariableOp" for source in inputs[scoring]):
            return scoring, takes[node]
    return -1, 0


def _layer(ops: StepOps, owner: int, scoring: int) -> tuple[str, str]:
    """Return what to call the layer of the scores, and its line."""
    layers, frame = ops.graphs.layers, ops.frame_of(scoring)
    if re.search(TRAINING_CALLS, ops.code(frame)):
        frame = -1
    if not 0 <= owner < len(layers):
        return ops.place(frame), ops.place(frame)
    name, kind = layers[["name", "type"]].iloc[owner]
    return f"the {kind} layer {str(name).rpartition('/')[2]}", ops.place(int(ops.graphs.once(layer_frames)[owner]))


def _one_hot(graphs: Graphs, classes: int) -> str:
    """Say so if the loss is given the targets as vectors."""
    nodes = graphs.nodes
    dense = (nodes["op"] == _DENSE_LOSS).to_numpy(bool)
    given = [last_dimension(str(taken)) for taken in nodes["takes"][dense]]
    if classes not in given:
        return ""
    return (
        f" The targets are vectors of {_units.count(classes)} numbers too: the sparse loss "
        '("sparse_categorical_crossentropy") takes the class numbers instead.'
    )
