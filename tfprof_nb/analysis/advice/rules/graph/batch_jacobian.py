import math
import re

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.placed_ops import creating_frames
from tfprof_nb.analysis.step_ops.shapes import Shape, sizes
from tfprof_nb.decode.sections.graphs import Graphs

_MANY = 16  # examples
_SQUARE = 2  # axes
_CALL = re.compile(r"([\w.]+)\.jacobian\(")
# What tf.vectorized_map, with which a Jacobian is computed, calls its ops.
_VECTORIZED = r"(?:^|/)(?:pfor|loop_body)(?:_\d+)?/"

RULE = Rule(
    "batch-jacobian",
    "The Jacobian of a whole batch is computed for its diagonal",
    "Looks for `tape.jacobian` of a batch of outputs by the batch of inputs, of which each output depends on its own "
    "example.",
    "For n examples the Jacobian has n times the numbers of its diagonal, and all but the diagonal are zero.",
    action="Use batch_jacobian",
    page="source",
    moderate=20.0,
    high=40.0,
    saved=(0.5, None),
    supersedes=("dominant-op", "dominant-layer"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    frame, shape = _jacobian(ops.graphs) if ops.steps else (-1, ())
    # A square of numbers may also be what is wanted, such as a Hessian.
    if frame < 0 or (len(shape) == _SQUARE and not evidence.code.place_with("diag")):
        return
    own = ops.graphs.nodes["name"].astype(str).str.contains(_VECTORIZED).to_numpy(bool)
    percent = ops.percent(own)
    place, half, examples = ops.place(frame), len(shape) // 2, _units.count(shape[0])
    given = evidence.code.call(*line_at(place), "jacobian").removeprefix(".jacobian")
    single = all(size == 1 for size in shape[1:half])
    method = "gradient" if single else "batch_jacobian"
    tape = found[1] if (found := _CALL.search(evidence.code.at(place))) else "tape"
    what = f"`{tape}.{method}{given}`" if given else f"tape.{method}(...)"
    returns = "the diagonal, one row for each example" if single else "the blocks of the diagonal, one for each example"
    yield Case(
        percent,
        finding=f"The Jacobian of {examples} examples by {examples} examples is computed in each step ({place})",
        evidence=f"Its shape is {' × '.join(map(_units.count, shape))}, and its ops run in "
        f"{_units.percent(percent)} of each step. Where the result for an example depends on that example alone, "
        "all but its diagonal is 0.",
        fix=f"If a row of the result depends on the same row of the input alone (no batch normalisation between "
        f"them), call {what} instead: it returns {returns}, in the time of a backward pass"
        f"{'' if single else ' for each output'}. Take out the code that picks the diagonal.",
        place=place,
    )


def _jacobian(graphs: Graphs) -> tuple[int, Shape]:
    """Return the line that computes a Jacobian of a batch by a batch of the same size, and its shape; -1 for none."""
    nodes, frames = graphs.nodes, graphs.once(creating_frames)
    called = np.append(graphs.frames["text"].map(lambda text: bool(_CALL.search(str(text)))).to_numpy(bool), False)[
        frames
    ]
    weights = set(graphs.variables["parameters"])
    for node in np.flatnonzero(called & nodes["op"].eq("Reshape").to_numpy(bool)):
        for shape in sizes(str(nodes["outputs"].iloc[node])):
            half = len(shape) // 2
            of_pairs = len(shape) >= _SQUARE and len(shape) % 2 == 0 and shape[0] == shape[half] >= _MANY
            of_weights = math.prod(shape[half:]) in weights
            if of_pairs and not of_weights and nodes["phase"].iloc[node] != "backward":
                return int(frames[node]), shape
    return -1, ()
