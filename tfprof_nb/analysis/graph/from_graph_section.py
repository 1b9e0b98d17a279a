"""A session's graph, as a capture described it, as a model without runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb.analysis.events.tensors import bytes_of, sizes_of
from tfprof_nb.analysis.graph.model import Frame, GraphModel, no_runs

_COLUMNS = ("names", "ops", "types", "parameters", "float_ops", "takes", "outputs", "traces", "inputs")
_NO_GRAPH = (
    "The session's graph is not described beside these runs (tfprof_nb.profile_session does that): parameters, "
    "float ops and code are unknown."
)
_EMPTY: dict[str, Any] = {
    "strings": [],
    "frames": {"file": [], "line": [], "function": []},
    "traces": [],
    "functions": [{name: [] for name in _COLUMNS}],
    "notes": [_NO_GRAPH],
}


def from_graph_section(section: Mapping[str, Any] | None) -> GraphModel:
    """Return the first function of a sidecar's section ``graphs``; without one, a model without nodes."""
    section = section or _EMPTY
    function = section["functions"][0]
    texts = np.array(section["strings"], object)
    traces = _outermost_first(section)
    ops = texts[function["ops"]] if function["ops"] else np.array([], object)
    nodes = pd.DataFrame(
        {
            "name": texts[function["names"]] if function["names"] else np.array([], object),
            "op_type": ops,
            "device": "",
            "types": [(op, *texts[more]) if more else (op,) for op, more in zip(ops, function["types"], strict=True)],
            "parameters": np.array(function["parameters"], np.int64),
            "float_ops": np.array(function["float_ops"], np.float64),
            "input_shapes": [texts[number] for number in function["takes"]],
            "trace": [traces[number] for number in function["traces"]],
            "output_bytes": [bytes_of(texts[number]) for number in function["outputs"]],
            "input_bytes": [bytes_of(texts[number]) for number in function["takes"]],
        }
    )
    nodes["graph_float_ops"], nodes["function"] = nodes["float_ops"], 0
    nodes["holds_variable"] = nodes["parameters"] > 0
    nodes["variable_shape"] = _shapes(nodes, [texts[number] for number in function["outputs"]], function["inputs"])
    nodes["phase"] = nodes["name"].str.startswith("gradients").map({True: "backward", False: ""})
    return GraphModel(nodes, function["inputs"], no_runs(), notes=tuple(section["notes"]))


def _shapes(nodes: pd.DataFrame, outputs: Sequence[str], inputs: Sequence[Sequence[int]]) -> list[str]:
    """Return the shapes of variables: their own, or that of the first op that reads them from their handle."""
    readers = {
        sources[0]: number
        for number, (op, sources) in reversed(list(enumerate(zip(nodes["op_type"], inputs, strict=True))))
        if op == "ReadVariableOp" and sources
    }
    holders = np.flatnonzero(nodes["holds_variable"]).tolist()
    shapes = {number: sizes_of(outputs[readers.get(number, number)]) for number in holders}
    return [shapes.get(number, "") for number in range(len(nodes))]


def _outermost_first(section: Mapping[str, Any]) -> list[tuple[Frame, ...]]:
    """Return the traces of a section."""
    texts, frames = section["strings"], section["frames"]
    written = [
        (texts[file], line, texts[function])
        for file, line, function in zip(frames["file"], frames["line"], frames["function"], strict=True)
    ]
    return [tuple(written[number] for number in reversed(trace)) for trace in section["traces"]]
