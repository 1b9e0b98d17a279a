"""A model of the functions that ran, with their events as runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64, Ints
from tfprof_nb._units import PS_PER_US, microseconds
from tfprof_nb.analysis.events.eager import ran_eagerly
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.graph_nodes import graph_nodes
from tfprof_nb.analysis.events.names import function_name
from tfprof_nb.analysis.events.op_labels import OpLabels, beside_instructions, label_all_ops, on_instruction_line
from tfprof_nb.analysis.events.tensors import bytes_of, sizes_of
from tfprof_nb.analysis.graph.model import MEASURED, OUTSIDE, Frame, GraphModel, undescribed_nodes, with_devices
from tfprof_nb.analysis.ops.flops import float_ops_of_nodes
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.xspace import ALLOCATION

_MIN_SHARE = 0.005  # of all op time; less is not worth a note
_MAX_NAMES = 3
# Ops of tf.data itself, and of the functions that it is given (`__inference_Dataset_map_decode_42`).
_PIPELINE = rf"^(?:.*/)?(?:{OUTSIDE}/Iterator\b|Dataset_[a-z_]+)"

TRAINABLE = "_trainable_variables"
_NO_MEMORY = "A profile records the memory that an op requested, but not its peak, nor what the op keeps."
_NOTHING_RAN = "No op was recorded: nothing ran, or host_level was below 2."
_OF_STEPS = "Averages are over the same {} of {} steps as on the page Steps."
_NO_STEPS = "There are no steps: times, memory and float ops are those of the whole capture."
_NO_MODEL = (
    "Parameters are those of trainable variables: this capture does not distinguish a model's other weights from the "
    "variables of the optimizer."
)
_NO_GRAPHS = (
    "Inputs, shapes and lines of ops are not in this file: tfprof_nb records them in its own captures of TensorFlow."
)
_ALL_EAGER = "All ops ran eagerly: there is no graph that could tell their inputs, shapes and float ops."


class _Part(NamedTuple):
    """One host: `GraphModel.nodes` with their ``unit`` (see `occasional`), their inputs, and its events by node."""

    nodes: pd.DataFrame
    inputs: list[list[int]]
    events: pd.DataFrame


def from_events(
    forests: Sequence[Forest],
    graphs: Sequence[Graphs],
    steps: Sequence[Ints],
    names_of_files: Mapping[str, str] | None = None,
    measured: Iterable[int] = (),
) -> GraphModel:
    """Return the graph that ran on all hosts, with what its nodes took in each step.

    If there are steps, only what ran in a step counts, and for an average step only what ran in more than half of the
    measured steps. Time is an op's own, without ops that ran inside it. A
    fused op counts as the node whose name it has, with the float ops of all nodes that it absorbed.

    Parameters
    ----------
    forests, graphs, steps
        Per host: its events, the functions that ran there, and the step of every event (-1 for none).
    names_of_files
        What cells of a notebook are called, by the files that they were compiled as.
    measured
        The steps in the averages; if none of them ran an op, averages are over all steps.
    """
    parts = [_part(*host, len(forests) > 1) for host in zip(forests, graphs, steps, strict=True)]
    first = np.cumsum([0, *(len(part.nodes) for part in parts)])
    nodes = pd.concat([part.nodes for part in parts], ignore_index=True)
    inputs = [
        [source + start for source in some]
        for part, start in zip(parts, first[:-1], strict=True)
        for some in part.inputs
    ]
    moved = [
        part.events.assign(node=part.events["node"] + start) for part, start in zip(parts, first[:-1], strict=True)
    ]
    events = pd.concat(moved, ignore_index=True)
    period = "step" if (events["step"] >= 0).any() else "capture"
    events = events if period == "step" else events.assign(step=0)
    counted = events[events["step"] >= 0]
    runs = counted.groupby(["node", "step"], as_index=False)[list(MEASURED)].sum()
    intervals = counted[["node", "step", "device", "start_us", "duration_us"]].reset_index(drop=True)
    every = frozenset(runs["step"].tolist())
    averaged = every & frozenset(measured) or every
    rare = _occasional(nodes["unit"], runs[runs["step"].isin(averaged)])
    nodes = _unique(nodes.drop(columns="unit"))
    if names_of_files:
        nodes["trace"] = nodes["trace"].map(partial(_renamed, names=names_of_files))
    notes = [_NOTHING_RAN]
    if len(events):
        excluded = _excluded_ops(nodes["name"], events[(events["step"] < 0) | events["step"].isin(averaged)], rare)
        notes = _notes(forests, graphs, period, excluded, has_memory=bool(events["bytes"].any()))
        notes += [_OF_STEPS.format(len(averaged), len(every))] if averaged != every else []
    return GraphModel(nodes, inputs, runs, intervals, tuple(notes), period, rare, averaged)


def _renamed(trace: Sequence[Frame], names: Mapping[str, str]) -> tuple[Frame, ...]:
    return tuple((names.get(file, file), line, function) for file, line, function in trace)


def _all_eager(forest: Forest) -> bool:
    ops = forest.once(label_all_ops).code >= 0
    return bool(forest.once(ran_eagerly)[ops].all())


def _notes(
    forests: Sequence[Forest], graphs: Sequence[Graphs], period: str, excluded: Iterable[str], *, has_memory: bool
) -> list[str]:
    known = any(len(host.nodes) for host in graphs)
    no_graphs = [] if known else [_ALL_EAGER] if all(map(_all_eager, forests)) else [_NO_GRAPHS]
    no_model = [_NO_MODEL] if any(host.variables["model"].isna().any() for host in graphs) else []
    no_steps = [_NO_STEPS] if period == "capture" else []
    of_captures = dict.fromkeys(note for host in graphs for note in host.notes)
    about_memory = [_NO_MEMORY] if has_memory else []
    return [*no_graphs, *no_steps, *excluded, *no_model, *about_memory, *of_captures]


def _part(forest: Forest, graphs: Graphs, steps: Ints, name_host: bool) -> _Part:
    labels = forest.once(label_all_ops)
    node = forest.once(graph_nodes, graphs)
    # Asynchronous copies of a TPU run beside its instructions, which wait for them.
    ops = np.flatnonzero((labels.code >= 0) & ~beside_instructions(forest))
    others, place = np.unique(labels.code[ops[node[ops] < 0]], return_inverse=True)
    number = node[ops]
    number[number < 0] = len(graphs.nodes) + place
    described = _described(graphs, float_ops_of_nodes(graphs, node, labels))
    names = [f"{OUTSIDE}/{name}" for name in labels.op_name[others]]
    undescribed = undescribed_nodes(names, labels.op_type[others].tolist(), function=-1).assign(unit=names)
    nodes = pd.concat([described, undescribed], ignore_index=True)
    if name_host:
        nodes[["name", "unit"]] = f"{forest.host.name}/" + nodes[["name", "unit"]]
    inputs = [*graphs.nodes["inputs"], *([] for _ in others)]
    events = _op_events(forest, ops, number, steps)
    allocated = _allocated(forest, labels, ops, number, steps)
    # Of several devices, a node is noted on the accelerator.
    device = events.sort_values("accelerator_micros").drop_duplicates("node", keep="last").set_index("node")["device"]
    nodes = with_devices(nodes, device)
    return _completed(_Part(nodes, inputs, pd.concat([events, allocated], ignore_index=True)))


def _described(graphs: Graphs, float_ops: Floats) -> pd.DataFrame:
    nodes = graphs.nodes
    traces = [*(_outermost_first(graphs, trace) for trace in graphs.traces), ()]  # the last is for -1, no trace
    units = nodes["function"].map(pd.Series(_scopes(graphs), dtype=object)).astype(object)
    variables = _holders(graphs)
    trainable = variables.map(graphs.variables["trainable"]).eq(True)  # missing counts as not trainable
    own = trainable | variables.map(graphs.variables["model"]).eq(True)
    return pd.DataFrame(
        {
            "name": units + "/" + nodes["name"] if len(nodes) else [],
            "unit": units,
            "op_type": nodes["op"],
            "device": "",
            "types": [(op, TRAINABLE) if trains else (op,) for op, trains in zip(nodes["op"], trainable, strict=True)],
            "parameters": variables.map(graphs.variables["parameters"]).where(own).fillna(0).astype(np.int64),
            "holds_variable": variables.notna(),
            "variable_shape": _shapes(nodes, variables.notna()),
            "float_ops": float_ops,
            "input_shapes": nodes["takes"],
            "trace": [traces[number] for number in nodes["trace"]],
            "output_bytes": [bytes_of(text) for text in nodes["outputs"]],
            "input_bytes": [bytes_of(text) for text in nodes["takes"]],
            "graph_float_ops": nodes["float_ops"],
            "phase": nodes["phase"],
            "function": nodes["function"],
        }
    )


def _shapes(nodes: pd.DataFrame, holds_variable: pd.Series[bool]) -> list[str]:
    """Return the shapes of variables, where a node does nothing but read one."""
    reads = holds_variable & (nodes["op"] == "ReadVariableOp")
    return [sizes_of(text) if read else "" for text, read in zip(nodes["outputs"], reads, strict=True)]


def _outermost_first(graphs: Graphs, trace: Sequence[int]) -> tuple[Frame, ...]:
    frames = graphs.frames.iloc[list(reversed(trace))]
    return tuple(frames[["file", "line", "function"]].itertuples(index=False, name=None))


def _scopes(graphs: Graphs) -> list[str]:
    """Return the scope of each function's nodes: its name; for the body of a loop or a branch, the caller's scope."""
    scopes = [function_name(name) for name in graphs.functions["name"]]
    callers = graphs.nodes["function"].to_numpy()
    for node, role, function in reversed(list(graphs.calls.itertuples(index=False))):
        if role != "call" and function >= 0:
            scopes[function] = scopes[callers[node]]
    return scopes


def _holders(graphs: Graphs) -> pd.Series[float]:
    """Return per node the variable that it is the first to read, so that none counts twice; NaN for other nodes."""
    variable = graphs.nodes["variable"]
    first = (variable >= 0) & ~variable.duplicated()
    return variable.where(first)


def _op_events(forest: Forest, ops: Int64, node: Int64, steps: Ints) -> pd.DataFrame:
    """Return one row per op's event: its node and step, `MEASURED`, its device and its time.

    ``node`` has one entry per event in ``ops``, ``steps`` one per event of the host.
    """
    host = forest.host
    instructions = on_instruction_line(forest)[ops]
    on_device = forest.on_device[ops] | instructions
    # A launch counts as a run of its op; what only the device recorded counts there.
    launched = np.isin(node, node[~on_device])
    self_ps = host.duration_ps[ops].copy()
    self_ps[instructions] = forest.nesting.self_ps[ops[instructions]]
    self_ps[~on_device] = forest.self_ps_among(ops[~on_device])
    micros = self_ps / PS_PER_US
    planes = np.array([host.planes[line.plane].name.lower() for line in host.lines], object)
    measured = {
        "occurrences": (~on_device | ~launched).astype(np.int64),
        "micros": micros,
        "accelerator_micros": np.where(on_device, micros, 0.0),
        "cpu_micros": np.where(on_device, 0.0, micros),
        **dict.fromkeys(("bytes", "peak_bytes", "residual_bytes", "output_bytes"), 0),
    }
    device = np.where(on_device, planes[host.line[ops]], "/device:cpu:0")
    start_us, duration_us = host.start_ps[ops] / PS_PER_US, host.duration_ps[ops] / PS_PER_US
    return pd.DataFrame(
        {
            "node": node,
            "step": steps[ops].astype(np.int64),
            **measured,
            "device": device,
            "start_us": start_us,
            "duration_us": duration_us,
        }
    )


def _allocated(forest: Forest, labels: OpLabels, ops: Int64, node: Int64, steps: Ints) -> pd.DataFrame:
    """Return ``node step bytes`` of each allocation whose op has events; arguments as for `_op_events`."""
    allocations = np.flatnonzero(forest.named(ALLOCATION))
    names = forest.texts_at("tf_op", allocations)
    nodes = dict(zip(labels.op_name[labels.code[ops]], node, strict=True))
    number = np.array([nodes.get(name.partition(":")[0], -1) for name in names], np.int64)
    known = number >= 0
    frame = pd.DataFrame({"node": number[known], "step": steps[allocations[known]].astype(np.int64)})
    frame["bytes"] = forest.host.ints("requested_bytes").at(allocations[known], missing=0)
    return frame


def _completed(part: _Part) -> _Part:
    """Fill the columns that only some rows have, and compute the bytes of outputs."""
    events = part.events.fillna(dict.fromkeys((*MEASURED, "start_us", "duration_us"), 0) | {"device": ""})
    events["output_bytes"] = events["node"].map(part.nodes["output_bytes"]) * events["occurrences"]
    return part._replace(events=events)


def _unique(nodes: pd.DataFrame) -> pd.DataFrame:
    """Number nodes of one name: functions of one name have such nodes."""
    occurrence = nodes.groupby("name").cumcount()
    names = [
        f"{name}_{number}" if number else name
        for name, number in zip(nodes["name"].tolist(), occurrence.tolist(), strict=True)
    ]
    return nodes.assign(name=np.array(names, dtype=object))


def _occasional(unit: pd.Series[str], runs: pd.DataFrame) -> Int64:
    """Return the nodes that ran in at most half of the steps, such as those of a report now and then.

    Parameters
    ----------
    unit
        Per node, what it runs as part of: its Python function, whichever of its traced versions ran; or the node.
    runs
        `GraphModel.runs`, of the steps in the averages.
    """
    steps = runs["step"].nunique()
    ran_in = runs.groupby(runs["node"].map(unit))["step"].nunique()
    rare = ran_in.index[(2 * ran_in <= steps) & (steps > 1)]
    return np.flatnonzero(unit.isin(rare))


def _excluded_ops(names: pd.Series[str], events: pd.DataFrame, rare: Int64) -> Iterator[str]:
    """Say which ops an average step excludes, if they take much time.

    Parameters
    ----------
    events
        One row per event: ``node step micros``; step is -1 outside of steps.
    """
    whole = events["micros"].sum()
    outside = events[events["step"] < 0]
    if outside["micros"].sum() >= _MIN_SHARE * whole:
        micros = outside.groupby("node")["micros"].sum()
        in_pipeline = micros[names[micros.index].str.contains(_PIPELINE)].sum()
        where = " (most of it in the input pipeline's own ops)" if 2 * in_pipeline > micros.sum() else ""
        share = micros.sum() / whole
        yield f"{share:.0%} of the ops' time is outside of steps{where} and is excluded: {_largest(names, micros)}."
    inside = events[(events["step"] >= 0) & events["node"].isin(rare)]
    if inside["micros"].sum() >= _MIN_SHARE * whole:
        micros = inside.groupby("node")["micros"].sum()
        yield (
            f"{microseconds(micros.sum())} of ops that ran in at most half of the steps are not part of "
            f"an average step: {_largest(names, micros)}."
        )


def _largest(names: pd.Series[str], micros: pd.Series[float]) -> str:
    largest = micros.nlargest(_MAX_NAMES)
    short = names[largest.index].str.replace(f"{OUTSIDE}/", "")
    named = [f"{name} {microseconds(time)}" for name, time in zip(short, largest, strict=True)]
    return ", ".join(named) + (" and others" if len(micros) > _MAX_NAMES else "")
