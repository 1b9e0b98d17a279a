"""The model's layers: drawn as a graph, and as a table."""

from typing import Any

from tfprof_nb import _units
from tfprof_nb.analysis.breakdown.breakdown import Breakdown
from tfprof_nb.analysis.layers import Layers
from tfprof_nb.render.panels import Box, Column, Network, Note, Panel, Table
from tfprof_nb.render.theme import BLUE, GREEN

_COLUMNS = (
    Column("layer", "layer", "code"),
    Column(
        "step_share",
        "of a step",
        "share",
        bar=True,
        meaning="as on the Answer: without waiting, and without the optimizer",
    ),
    Column("op_ms", "time of its ops", "ms", meaning="in a typical step, summed over threads, with its optimizer"),
    Column("op_share", "share of ops", "share", meaning="of the time of all ops"),
    Column("kind", "class", "code"),
    Column("forward_ms", "forward", "ms"),
    Column("backward_ms", "backward", "ms"),
    Column("optimizer_ms", "optimizer", "ms", meaning="the updates of its weights"),
    Column("parameters", "parameters", "count"),
    Column("output", "output", "code", meaning="type and shape of what it gives"),
    Column("output_bytes", "size of the output", "bytes"),
    Column("place", "made at", "code"),
)
_ABOUT = (
    "Boxes have the time of each layer's ops in a typical step: forward, backward and its share of the optimizer, "
    "summed over threads."
)
_OF_A_STEP = " “Of a step” is the part of the step's wall time without the optimizer, as the Answer divides it."


def panels(result: Layers, tree: Breakdown) -> list[Panel]:
    """Show the layers as boxes with their time and output, then as a table, the most expensive first.

    That is the one that takes most of a step in ``tree``, where that tells of layers.
    """
    if result.table.empty:
        return [Note(note, "empty") for note in result.notes]
    boxes = [_box(row) for row in result.boxes.itertuples(index=False)]
    _, parts = tree.longest_step()
    of_step = parts[parts["kind"] == "layer"].groupby("name")["total_ms"].sum() / max(parts["total_ms"].sum(), 1e-9)
    table = result.table.assign(step_share=result.table["layer"].map(of_step).astype(float))
    table = table.sort_values(["step_share", "op_ms"], ascending=False, ignore_index=True)
    known = bool(table["step_share"].notna().any())
    return [
        Note(_ABOUT + _OF_A_STEP * known),
        Network("The model, from its input to its output", boxes, GREEN if result.on_device else BLUE),
        Table("Layers, by time", table, [column for column in _COLUMNS if known or column.key != "step_share"], 20),
        *map(Note, result.notes),
    ]


def _box(row: Any) -> Box:
    """Return a box with two lines: class, time and parameters; then the output with its size."""
    parameters = f"{_units.count(row.parameters)} parameters" if row.parameters else ""
    size = _units.size(row.output_bytes) if row.output_bytes else ""
    first = " · ".join(filter(None, (row.kind, _units.milliseconds(row.op_ms), parameters)))
    second = " · ".join(filter(None, (row.output, size)))
    return Box(row.name, [first, second], row.op_share, row.inputs)
