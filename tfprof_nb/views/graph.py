"""The graph that ran: its four views as trees."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.graph.graph import Graph, GraphTree
from tfprof_nb.analysis.result import Result
from tfprof_nb.render.panels import Column, Figure, KeyFigures, Note, Panel, Tab, Table, Tabs
from tfprof_nb.views.columns import OP

_INDENT = "\N{NO-BREAK SPACE}" * 2
_MAX_ROWS = 20_000  # a browser sorts as many at once
_MOST, _MAX_NAME = 0.5, 100
_KINDS = {
    "scope": ("Name scopes", "name scope"),
    "graph": ("Data flow: below each node its inputs", "node"),
    "op": ("Op types", "op type"),
    "code": ("Calls that created the nodes, the outermost first", "code"),
}
_ATTRIBUTES = {
    "micros": [
        Column("total_micros", "time", "us", bar=True, meaning="summed over threads, including everything below"),
        Column("self_micros", "self time", "us"),
    ],
    "accelerator_micros": [Column("total_accelerator_micros", "on accelerators", "us", bar=True)],
    "cpu_micros": [Column("total_cpu_micros", "on the CPU", "us", bar=True)],
    "bytes": [Column("total_bytes", "memory requested", "bytes", bar=True)],
    "peak_bytes": [Column("total_peak_bytes", "peak memory", "bytes", bar=True)],
    "residual_bytes": [Column("total_residual_bytes", "memory kept after the op", "bytes", bar=True)],
    "output_bytes": [Column("total_output_bytes", "output", "bytes", bar=True)],
    "params": [Column("total_parameters", "parameters", "count", bar=True)],
    "float_ops": [
        Column(
            "total_float_ops",
            "float ops",
            "flops",
            bar=True,
            meaning="per step; in the whole capture if it has no steps",
        )
    ],
    "occurrence": [
        Column("occurrences", "runs", "count"),
        Column("total_nodes", "nodes", "count", meaning="with all below"),
    ],
    "device": [Column("device", "device")],
    "op_types": [Column("op_types", "type")],
    "input_shapes": [Column("input_shapes", "inputs", "code")],
}
# A device among the types of a node.
_DEVICE = r"\|?/(?:job|device|task):?[^|]*"
_ESTIMATE = (
    Column("use", "use"),
    Column("time_bound_us", "roofline time", "us", bar=True),
    Column("bound_by", "bound by"),
    Column("float_ops", "float ops", "flops"),
    Column("moved_bytes", "memory traffic", "bytes"),
    Column("parameter_bytes", "variables", "bytes"),
    Column("peak_live_bytes", "peak memory", "bytes"),
    Column("fits", "fits", "flag", meaning="whether it fits into the device's memory"),
)
_SHOWN = ("micros", "float_ops", "params", "bytes", "occurrence", "op_types", "device")


def panels(graph: Graph) -> list[Panel]:
    """Show the views for which the graph has data, the largest total time first."""
    if not graph.summary["nodes"]:
        return [Note(note, "empty") for note in graph.notes]
    without = {"graph": not any(graph.model.inputs), "code": not graph.model.nodes["trace"].map(len).any()}
    kinds = [Tab(kind, partial(_view, graph, kind)) for kind in _KINDS if not without.get(kind)]
    return [*_answer(graph), KeyFigures(_figures(graph)), Tabs(kinds, "menu", "view"), *map(Note, graph.notes)]


def _answer(graph: Graph) -> list[Note]:
    """Name the innermost scope that has most of the time."""
    if not graph.summary["micros"]:
        return []
    rows = graph.scope(order_by="micros", min_micros=1).table
    names, times, depths = rows["name"], rows["total_micros"].to_numpy(), rows["depth"].to_numpy()
    most = 0
    for row in range(1, len(rows)):  # each stands before what lies in it, the largest first
        if depths[row] <= depths[most]:
            break
        if depths[row] == depths[most] + 1 and times[row] >= _MOST * times[0]:
            most = row
    if depths[most] < 2:  # a whole function
        return [Note("No name scope takes most of the ops' time.", "answer")]
    name, share = names.iloc[most].partition("/")[2], _units.share(times[most] / times[0])  # without its function
    took = f"takes {share} of the ops' time: {_units.microseconds(times[most])}"
    return [Note(f"The name scope `{_units.shorten(name, _MAX_NAME)}` {took}.", "answer")]


def part_panels(part: Result) -> list[Panel]:
    """Show one view with its selected attributes, or an estimate."""
    if isinstance(part, GraphTree):
        return [_table(part, part.options.select), *map(Note, part.notes)]
    return [Table("Estimate of a step", part.table, _ESTIMATE), *map(Note, part.notes)]


def _view(graph: Graph, kind: str) -> list[Panel]:
    ran = int(bool(graph.summary["micros"]))  # nodes without time are shown only if nothing ran
    tree = getattr(graph, kind)(order_by="micros", min_micros=ran)
    # Where a file tells neither, both are 0.
    known = {"params": "total_parameters", "bytes": "total_bytes"}
    shown = [name for name in _SHOWN if name not in known or tree.table[known[name]].iloc[0] > 0]
    return [_table(tree, shown, f"{kind}().table")]


def _table(tree: GraphTree, attributes: Sequence[str], kept_in: str = "table") -> Table:
    title, what = _KINDS[tree.kind]
    frame = tree.table.head(_MAX_ROWS)
    is_node = frame["op_types"] != ""
    frame = frame.assign(
        occurrences=frame["occurrences"].where(is_node),
        row=_names(frame, tree.kind),
        op_name=frame["name"].str.partition("/")[2].where(is_node, ""),  # without its function
        op_types=frame["op_types"].str.replace(_DEVICE, "", regex=True),  # which has a column of its own
    )
    columns = [column for attribute in attributes for column in _ATTRIBUTES.get(attribute, ())]
    if tree.kind != "op":
        selects = "" if tree.kind == "code" else OP
        return Table(title, frame, [Column("row", what, "code"), *columns], 25, selects, "depth", kept_in)
    # A list, not a tree: its totals would include the rows below.
    own = {column.key.replace("total_", "self_"): column for column in reversed(columns)}
    columns = [replace(own[key], key=key, bar=True) if "self_" in key else own[key] for key in reversed(own)]
    return Table(title, frame.iloc[1:], [Column("name", what, "code"), *columns], 25, kept_in=kept_in)


def _names(frame: pd.DataFrame, kind: str) -> list[str]:
    """Indent names; a scope is shown without its parents' names, a node without its function's."""
    written: list[str] = []
    above: list[str] = []
    for name, depth in zip(frame["name"], frame["depth"], strict=True):
        del above[depth:]
        scope = above[-1] + "/" if above else ""
        short = name.removeprefix(scope) if kind == "scope" else name
        if kind == "graph":
            short = name.partition("/")[2] or name
        written.append(_INDENT * depth + (short if depth else "all"))
        above.append(name)
    return written


def _figures(graph: Graph) -> list[Figure]:
    summary = graph.summary
    scope = "per step" if graph.summary["steps"] else "in the capture"
    threads = "threads run in parallel, so the sum can exceed the elapsed time"
    figures = {
        "nodes": (_units.count(summary["nodes"]), "nodes of the functions that ran, and ops outside of functions"),
        "parameters": (
            _units.count(summary["parameters"]),
            "numbers in the weights that were used, without those of the optimizer",
        ),
        f"op time {scope}, summed over threads": (_or_unknown(summary["micros"], _units.microseconds), threads),
        f"float ops {scope}": (_or_unknown(summary["float_ops"], _units.float_ops), "as far as TensorFlow counts them"),
    }
    if not summary["parameters"]:
        del figures["parameters"]
    return [Figure(label, value, meaning) for label, (value, meaning) in figures.items()]


def _or_unknown(value: float | None, write: Callable[[float], str]) -> str:
    return "unknown" if value is None or pd.isna(value) else write(value)
