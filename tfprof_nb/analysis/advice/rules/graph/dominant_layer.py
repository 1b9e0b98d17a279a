from typing import NamedTuple

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.step_ops.layers import layers
from tfprof_nb.analysis.step_ops.small_ops import RECURRENT
from tfprof_nb.analysis.step_ops.step_ops import StepOps

_DOMINANT_SHARE = 0.5
# A layer with so many parameters, and so much of all, is more than the model's design usually needs.
_HUGE_PARAMETERS, _HUGE_SHARE = 2_000_000, 0.9
# A layer with half of the units takes about half of the time: this is the least and the most of what is saved.
_HALF_LOW, _HALF_HIGH, _ALL_LOW = 0.3, 0.6, 0.6
_POOLING = {5: "GlobalAveragePooling3D", 4: "GlobalAveragePooling2D", 3: "GlobalAveragePooling1D"}
_SIZES = {
    "units": ("Dense", "LSTM", "GRU", "SimpleRNN", "LSTMCell", "GRUCell", "SimpleRNNCell", "EinsumDense"),
    "filters": (
        "Conv1D",
        "Conv2D",
        "Conv3D",
        "Conv1DTranspose",
        "Conv2DTranspose",
        "Conv3DTranspose",
        "SeparableConv2D",
    ),
}
_SIZE_OF = {kind: size for size, kinds in _SIZES.items() for kind in kinds}

RULE = Rule(
    "dominant-layer",
    "One layer takes most of each step",
    "Looks for the layer, or the ops at one line, during half of each step or more of which no other ops run.",
    "A faster step begins with it. A layer with nearly all parameters of the model can often be much smaller.",
    action="Begin with this layer",
    page="source",
    supersedes=("dominant-op",),
    results="dynamics",
)


class _Fix(NamedTuple):
    """How to make a layer cheaper; the gain is a range of shares of the step."""

    text: str
    low: float = float("nan")
    high: float = float("nan")
    change: str = ""
    place: str = ""


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    table = ops.once(layers)
    if table.empty or table["alone_share"].iloc[0] < _DOMINANT_SHARE or table["layer"].iloc[0] == "":
        return
    layer = pd.Series(table.iloc[0])
    if layer["kind"] or ops.place(layer["frame"]):
        yield _case(ops, table, layer)


def _case(ops: StepOps, table: pd.DataFrame, layer: pd.Series) -> Case:
    whole = int(table["parameters"].sum())
    several = (table["parameters"] > 0).sum() > 1
    huge = several and layer["parameters"] >= max(_HUGE_PARAMETERS, _HUGE_SHARE * whole)
    fix = _cheaper(ops, layer, huge=huge)
    place = fix.place or ops.place(layer["frame"])
    what = f"The layer {_short(layer['layer'])} takes" if layer["kind"] else f"The ops at {place} take"
    return Case(
        100 * float(layer["covered_share"]),
        f"{what} most of each step",
        _described(ops, layer, whole),
        fix.text,
        place,
        fix.change,
        severity="medium" if huge else "info",
        gain=(100 * fix.high, 100 * fix.low, 100 * fix.high),
    )


def _described(ops: StepOps, layer: pd.Series, whole: int) -> str:
    known = ", ".join(filter(None, (str(layer["kind"]) or "variable", ops.place(layer["frame"]))))
    has = f"{layer['parameters']:,} of the {whole:,} parameters" if layer["parameters"] else "no parameters"
    parts = (("forward", "the forward pass"), ("backward", "the backward pass"), ("optimizer", "the optimizer"))
    spent = [f"{_units.milliseconds(layer[f'{key}_ms'])} in {name}" for key, name in parts if layer[f"{key}_ms"] > 0]
    first, alone = ", ".join(spent[:-1]), _units.share(layer["alone_share"])
    return (
        f"During {alone} of each step, no other ops run. {_short(layer['layer'])} ({known}) has {has}. Per step, "
        f"its ops take {first and f'{first} and '}{spent[-1]}."
    )


def _cheaper(ops: StepOps, layer: pd.Series, *, huge: bool) -> _Fix:
    alone, covered = float(layer["alone_share"]), float(layer["covered_share"])
    if huge and (pooled := _pooled(ops, layer)):
        return pooled._replace(low=_ALL_LOW * alone, high=covered)
    size = _SIZE_OF.get(str(layer["kind"]), "")
    if huge and size:
        return _Fix(f"Halve its {size}, or reduce the size of its input.", _HALF_LOW * alone, _HALF_HIGH * covered)
    if layer["kind"] in RECURRENT:
        return _Fix(
            "Start here to make the step faster. Its ops run again for each time step: take fewer of "
            "these, or join several to one."
        )
    if size:
        return _Fix(f"Start here to make the step faster: fewer {size}, or a smaller input.")
    return _Fix("Start here to make the step faster.")


def _pooled(ops: StepOps, layer: pd.Series) -> _Fix | None:
    """Return how to pool the input of a Dense layer instead of flattening it."""
    known = ops.graphs.layers[ops.graphs.layers["name"] == layer["behind"]]
    if layer["kind"] != "Dense" or known.empty or known["type"].iloc[0] != "Flatten":
        return None
    flattened = ops.graphs.nodes[ops.graphs.nodes["layer"] == known.index[0]]
    ranks = [takes.split(";")[0].count(",") + 1 for takes in flattened["takes"] if takes.split(";")[0].count(",")]
    pooling = _POOLING.get(max(ranks, default=0))
    if pooling is None:
        return None
    frame = int(known["frame"].iloc[0])
    code = ops.code(frame)
    # Without a module before the name, the new code would lack an import.
    change = code.replace(".Flatten()", f".{pooling}()") if code.count(".Flatten()") == 1 else ""
    instead = f"Replace Flatten() ({ops.place(frame)})" if frame >= 0 else "Replace Flatten()"
    smaller = "the layer's input, and so its parameters, become much smaller. This makes it a different model."
    text = f"{instead} by keras.layers.{pooling}(): {smaller}"
    return _Fix(text, change=change, place=ops.place(frame))


def _short(path: str) -> str:
    return str(path).rpartition("/")[2]
