import re
from typing import NamedTuple

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.source.gradients import with_gradients
from tfprof_nb.analysis.source.layer_frames import layer_frames
from tfprof_nb.analysis.source.owners import owners

_FEW_CHANNELS, _WIDE = 4, 8
# What a Conv2D takes: its input, and its kernel, which is as wide.
_TAKES = re.compile(r"\w+\[[^,;]*,(?!1,)([^,;]*),(\d+),(\d+)\];\w+\[(\d+),\2,\3,(\d+)\]")
_ONCE = re.compile(r"\w+\[[^,;]*,[^,;]*,1,\d+\]")

RULE = Rule(
    "convolution-over-whole-width",
    "A 2-D convolution slides along one axis only",
    "Looks for 2-D convolutions on a CPU of few channels whose kernels are as wide as their input, as over the vectors "
    "of a sentence's words.",
    "The gradient of the input is slow for such kernels. With the width as channels, the same sums are products of "
    "matrices: training steps of such layers were measured to take 1% to 7% of the time.",
    action="Let the width be the channels",
    page="ops",
    moderate=20.0,
    high=40.0,
    saved=(0.8, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
)


class _Whole(NamedTuple):
    """The sizes of a convolution's input and kernel."""

    height: str
    width: int
    channels: int
    rows: int
    filters: int


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    if not ops.steps or ops.on_device:
        return
    graphs, nodes = ops.graphs, ops.graphs.nodes
    forward = np.flatnonzero(nodes["op"].eq("Conv2D") & (nodes["forward"] < 0))
    shapes = nodes[["takes", "outputs"]].astype(str)
    found = {int(node): whole for node in forward if (whole := _whole(*shapes.iloc[node]))}
    if not found:
        return
    own = np.zeros(len(nodes), dtype=bool)
    own[[*found]] = True
    slow = with_gradients(graphs, own) & nodes["op"].eq("Conv2DBackpropInput").to_numpy(bool)
    percent = ops.percent(slow)
    if percent < RULE.moderate:
        return
    spent = ops.per_node["op_ms"].reindex([*found]).fillna(0.0)
    node = [*found][int(spent.to_numpy().argmax())]
    whole, owner = found[node], int(graphs.once(owners)[0][node])
    layer = graphs.layers.iloc[owner] if 0 <= owner < len(graphs.layers) else None
    place = ops.place(ops.frame_of(node) if owner < 0 else int(graphs.once(layer_frames)[owner]))
    name = "" if layer is None else f": {str(layer['name']).rpartition('/')[2]}"
    channels = f"{whole.channels} channel{'s' * (whole.channels > 1)}"
    instead = _in_one_dimension(whole, of_keras=layer is not None and bool(layer["type"]))
    of = f" of {_units.count(len(found))} such convolutions" if len(found) > 1 else ""
    yield Case(
        percent,
        f"A 2-D convolution slides along one axis only{name}{at(place)}",
        f"Its kernels of {whole.rows} x {whole.width} are as wide as its input, {whole.height} x {whole.width} with "
        f"{channels}. The gradient of that input{of} takes {_units.percent(percent)} of each step.",
        f"Let the width be the channels: {instead} computes the same sums, with as many weights. Its output has one "
        "axis less, for what pools it.",
        place,
    )


def _in_one_dimension(whole: _Whole, *, of_keras: bool) -> str:
    channels = whole.width * whole.channels
    if of_keras:
        return f"`keras.layers.Conv1D({whole.filters}, {whole.rows})` on an input of {whole.height} x {channels}"
    return (
        f"`tf.nn.conv1d` of an input of {whole.height} x {channels} with a kernel of {whole.rows} x {channels} x "
        f"{whole.filters}"
    )


def _whole(takes: str, outputs: str) -> _Whole | None:
    """Return the sizes of a convolution of few channels whose kernel fits its input once; None for others.

    Examples
    --------
    >>> _whole("float32[?,24,32,1];float32[3,32,1,16]", "float32[?,22,1,16]")
    _Whole(height='24', width=32, channels=1, rows=3, filters=16)
    >>> _whole("float32[?,24,32,1];float32[3,32,1,16]", "float32[?,24,32,16]")  # padded
    >>> _whole("float32[?,24,32,1];float32[3,3,1,16]", "float32[?,22,30,16]")
    """
    match = _TAKES.fullmatch(takes) if _ONCE.fullmatch(outputs) else None
    whole = _Whole(match[1], *map(int, match.groups()[1:])) if match else None
    return whole if whole and whole.width >= _WIDE and whole.channels <= _FEW_CHANNELS else None
