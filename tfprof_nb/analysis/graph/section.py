"""The graph of a session that a capture noted (docs/sidecar.md, section ``graphs``) as a model without runs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb.analysis.graph.model import MEASURED, Frame, GraphModel

OUTSIDE = "outside functions"
_TENSOR = re.compile(r"([a-z]+)(\d*)[a-z0-9_]*\[([\d,]*)\]")
_COLUMNS = ("names", "ops", "types", "parameters", "float_ops", "takes", "outputs", "traces", "inputs")
_NO_GRAPH = (
    "The session's graph is not described beside these runs (tfprof_nb.profile_session does it): parameters, float "
    "ops and code are not known."
)
_EMPTY: dict[str, Any] = {
    "strings": [],
    "frames": {"file": [], "line": [], "function": []},
    "traces": [],
    "functions": [{name: [] for name in _COLUMNS}],
    "notes": [_NO_GRAPH],
}


def session_model(section: Mapping[str, Any] | None) -> GraphModel:
    """Return the first function of a section; without one, a model without nodes."""
    section = section or _EMPTY
    function = section["functions"][0]
    texts = np.array(section["strings"], object)
    traces = outermost_first(section)
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
    nodes["phase"] = nodes["name"].str.startswith("gradients").map({True: "backward", False: ""})
    return GraphModel(nodes, function["inputs"], no_runs(), notes=tuple(section["notes"]))


def no_runs() -> pd.DataFrame:
    """Return `GraphModel.runs` of a graph that did not run."""
    return pd.DataFrame({name: np.array([], np.int64) for name in ("node", "step", *MEASURED)})


def bytes_of(tensors: str) -> int:
    """Return the size of tensors that are written as ``float32[32,10];int64[]``; unknown ones count 0."""
    return sum(_bytes_of_one(tensor) for tensor in tensors.split(";"))


def _bytes_of_one(tensor: str) -> int:
    match = _TENSOR.fullmatch(tensor)
    if match is None:
        return 0
    bits = int(match[2]) if match[2] else {"bool": 8, "half": 16}.get(match[1], 0)
    sizes = [int(size) for size in match[3].split(",") if size]
    return math.prod(sizes) * bits // 8


def outermost_first(section: Mapping[str, Any]) -> list[tuple[Frame, ...]]:
    """Return the traces of a section."""
    texts, frames = section["strings"], section["frames"]
    written = [
        (texts[file], line, texts[function])
        for file, line, function in zip(frames["file"], frames["line"], frames["function"], strict=True)
    ]
    return [tuple(written[number] for number in reversed(trace)) for trace in section["traces"]]
