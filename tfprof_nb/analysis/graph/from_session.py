"""A session's graph, as a capture described it, with its recorded runs (RunMetadata), counted as tfprof counts them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._units import PS_PER_US
from tfprof_nb.analysis.events.tensors import bytes_of, sizes_of
from tfprof_nb.analysis.graph.model import MEASURED, Frame, GraphModel, no_runs, undescribed_nodes, with_devices
from tfprof_nb.decode.run_metadata import SessionRuns
from tfprof_nb.formats.sidecar import Section

_CANONICAL = r".*/(?:device:gpu|gpu|device:cpu|cpu):\d+"
_STREAMS = "stream:all"
_NO_NODES = r"RecvTensor|_SOURCE|.*MEMCPY.*"
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


def from_session(session: SessionRuns) -> GraphModel:
    """Return the graph that a session ran, as its capture described it, with its runs."""
    return with_runs(session.sidecar.read(Section.GRAPHS, from_graph_section), session.executed)


def with_runs(model: GraphModel, executed: pd.DataFrame) -> GraphModel:
    """Return a model with a session's runs, and with the nodes that only these runs have.

    Parameters
    ----------
    executed
        One row per run of a node (`decode.run_metadata.executed_nodes`), and its ``step``.
    """
    rows = _on_one_device(_recorded(executed, model))
    nodes = _all_nodes(model, rows)
    rows = rows.assign(node=rows["node"].map(pd.Series(nodes.index, nodes["name"])))
    nodes = with_devices(nodes, rows[rows["canonical"]].drop_duplicates("node").set_index("node")["device"])
    runs = rows.groupby(["node", "step"], as_index=False)[list(MEASURED)].sum()
    intervals = rows[rows["timed"]][["node", "step", "device", "start_us", "duration_us"]]
    inputs = [*model.inputs, *([] for _ in range(len(nodes) - len(model.nodes)))]
    return GraphModel(nodes, inputs, runs, intervals.reset_index(drop=True), model.notes)


def _recorded(executed: pd.DataFrame, model: GraphModel) -> pd.DataFrame:
    """Return the runs of the graph's nodes and of other ops, with the nodes' names in the graph."""
    node = executed["node"].str.partition(":")[0]
    known = node.isin(model.nodes["name"]) | ~node.str.fullmatch(_NO_NODES)
    device = executed["device"].str.lower()
    return executed.assign(node=node, device=device, canonical=device.str.fullmatch(_CANONICAL))[known]


def _on_one_device(rows: pd.DataFrame) -> pd.DataFrame:
    """Return `MEASURED` per run: of each node on the device where it first ran, and on that device's streams."""
    placed = rows[rows["canonical"]].drop_duplicates("node").set_index("node")["device"]
    own = rows["node"].map(placed)
    rows = rows[~rows["canonical"] | (rows["device"] == own)]
    timed = rows["start_ps"] > 0
    micros = rows["op_end_micros"].where(rows["op_end_micros"] != 0, 1)  # a run too short to measure counts as 1 µs
    kernel, host = timed & rows["device"].str.contains(_STREAMS), timed & rows["canonical"]
    persistent = rows["persistent_bytes"]
    used = rows["temp_bytes"] + persistent
    measured = {
        "occurrences": host.astype(np.int64),
        "accelerator_micros": micros.where(kernel, 0),
        "cpu_micros": micros.where(host, 0),
        "bytes": (rows["requested_bytes"] + used).where(host, 0),
        "peak_bytes": (rows["peak_bytes"] + used).where(host, 0),
        "residual_bytes": (rows["residual_bytes"] + persistent).where(host, 0),
        "output_bytes": rows["outputs"].map(_output_bytes).where(host, 0),
        "timed": kernel | host,
        "start_us": rows["start_ps"] / PS_PER_US,
        "duration_us": micros,
    }
    rows = rows[["node", "step", "device", "canonical"]].assign(**measured)
    return rows.assign(micros=rows["accelerator_micros"] + rows["cpu_micros"])


def _output_bytes(outputs: list[object]) -> int:
    sizes = [output.tensor_description.allocation_description for output in outputs]  # type: ignore[attr-defined]
    return sum(max(size.allocated_bytes, size.requested_bytes) for size in sizes)


def _all_nodes(model: GraphModel, rows: pd.DataFrame) -> pd.DataFrame:
    """Add the nodes that the graph lacks; their type is their name."""
    names = rows["node"].drop_duplicates()
    new = names[~names.isin(model.nodes["name"])].tolist()
    return pd.concat([model.nodes, undescribed_nodes(new, new, function=0)], ignore_index=True) if new else model.nodes


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
