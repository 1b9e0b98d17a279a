"""tfprof's outputs of a view of a graph: text, a timeline for Chrome's trace viewer, a profile for pprof."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tfprof_nb._units import cell, count
from tfprof_nb.analysis.graph.graph import GraphTree
from tfprof_nb.analysis.graph.options import ATTRIBUTES, ORDERS
from tfprof_nb.export.pprof import Sample, pprof

_COLUMN = {"params": "parameters"}
_UNITS = {"micros": "us", "bytes": "bytes", "params": "count", "float_ops": "count"}
_PPROF_UNITS = {"micros": "microseconds", "bytes": "bytes"}
_DESCRIBING = ("device", "op_types", "input_shapes")


def write_view(tree: GraphTree) -> None:
    """Write a view where its options say: nowhere, to stdout, or to a file.

    Raises
    ------
    ValueError
        If the view cannot be written in this form.
    """
    kind, path = tree.options.output_type, Path(tree.options.outfile).expanduser()
    if kind == "stdout":
        sys.stdout.write(text_of(tree))
        return
    if kind == "none":
        return
    if kind == "timeline":
        # tfprof puts the step behind the name; programs look for the file there.
        path = path.with_name(f"{path.name}_{tree.options.step}")
        path.write_text(json.dumps(timeline_of(tree)), encoding="utf-8")
    elif kind == "file":
        path.write_text(text_of(tree), encoding="utf-8")
    else:
        path.write_bytes(pprof(*samples_of(tree)))
    sys.stdout.write(f"Wrote {path}\n")


def text_of(tree: GraphTree) -> str:
    """Return a view as indented lines, with the attributes that were selected: own/total where there are both."""
    selected = [name for name in ATTRIBUTES if name in tree.options.select]
    heads = [f"{name} (own/total)" if name not in _DESCRIBING else name for name in selected]
    parts = [_written(tree, name) for name in selected]
    lines = [f"node name | {' | '.join(heads)}"]
    for row, (name, depth) in enumerate(zip(tree.table["name"], tree.table["depth"], strict=True)):
        values = ", ".join(part[row] for part in parts if part[row])
        lines.append(f"{'  ' * depth}{name} ({values})")
    return "\n".join([*lines, *(f"Note: {note}" for note in tree.notes)]) + "\n"


def _written(tree: GraphTree, attribute: str) -> list[str]:
    """Write one attribute of every row."""
    table = tree.table
    if attribute in _DESCRIBING:
        return list(table[attribute])
    if attribute == "occurrence":
        pairs = zip(table["occurrences"], table["total_occurrences"], strict=True)
        runs = [f"{own:,}/{total:,} runs" for own, total in pairs]
        return [f"{text}, {count(n)} node{'s' * (n != 1)}" for text, n in zip(runs, table["definitions"], strict=True)]
    name, unit = (
        _COLUMN.get(attribute, attribute),
        _UNITS[attribute.rpartition("_")[2] if attribute not in _UNITS else attribute],
    )
    sign = f" {attribute}" if unit == "count" else ""
    own, total = table[f"self_{name}"], table[f"total_{name}"]
    numbers = [f"{_number(a, unit)}/{_number(b, unit)}{sign}" for a, b in zip(own, total, strict=True)]
    return _after_shapes(tree, numbers) if attribute == "params" else numbers


def _after_shapes(tree: GraphTree, texts: list[str]) -> list[str]:
    """Put the shape before the parameters of a variable, as tfprof does."""
    shapes = tree.model.nodes["variable_shape"].to_numpy(object)
    of_rows = [shapes[some[0]] if len(some) == 1 else "" for some in tree.nodes]
    return [f"{shape}, {text}" if shape else text for shape, text in zip(of_rows, texts, strict=True)]


def _number(value: float, unit: Any) -> str:
    return cell(None if np.isnan(value) else value, unit)


def timeline_of(tree: GraphTree) -> dict[str, Any]:
    """Return a view as a Chrome trace: of the graph view what ran when, of others the tree with its total times.

    Raises
    ------
    ValueError
        If it is the op view, which is no tree.
    """
    if tree.kind == "op":
        raise ValueError("output: the op view has no timeline. Choose the scope, graph or code view, or pprof.")
    events = _as_it_ran(tree) if tree.kind == "graph" else _nested(tree)
    return {"traceEvents": events}


def _as_it_ran(tree: GraphTree) -> list[dict[str, Any]]:
    shown = {node for nodes in tree.nodes for node in nodes}
    runs = tree.model.intervals
    runs = runs[runs["node"].isin(shown) & ((runs["step"] == tree.options.step) | (tree.options.step < 0))]
    names = tree.model.nodes["name"].to_numpy(object)
    devices = {device: pid for pid, device in enumerate(sorted(set(runs["device"])))}
    named: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": device}} for device, pid in devices.items()
    ]
    ends: dict[tuple[str, int], float] = {}
    for node, device, start, length in runs.sort_values("start_us")[
        ["node", "device", "start_us", "duration_us"]
    ].itertuples(index=False):
        lane = next(n for n in range(len(runs) + 1) if ends.get((device, n), -np.inf) <= start)
        ends[device, lane] = start + length
        named.append(_region(names[node], devices[device], lane, start, length))
    return named


def _nested(tree: GraphTree) -> list[dict[str, Any]]:
    """Draw each row as long as its total time, its children one after another from where it starts."""
    events = []
    begins: list[float] = [0.0]
    for name, depth, total in tree.table[["name", "depth", "total_micros"]].itertuples(index=False):
        del begins[depth + 1 :]
        start = begins[depth]
        begins[depth] = start + total
        begins.append(start)
        events.append(_region(name, 0, depth, start, total))
    return events


def _region(name: str, pid: int, tid: int, start_us: float, duration_us: float) -> dict[str, Any]:
    place = {"pid": pid, "tid": tid, "ts": float(start_us), "dur": float(duration_us)}
    return {"name": name, "cat": "Op", "ph": "X", **place, "args": {"name": name}}


def samples_of(tree: GraphTree) -> tuple[str, str, list[Sample]]:
    """Return the selected attribute, its unit, and what each row takes that no row shown below it does.

    Raises
    ------
    ValueError
        If the attribute is no number.
    """
    (attribute,) = tree.options.select
    if attribute not in ORDERS[1:-1]:
        raise ValueError(f"select: pprof cannot show {attribute!r}. Choose one of {', '.join(ORDERS[1:-1])}.")
    table = tree.table
    total = table[f"total_{_COLUMN.get(attribute, attribute)}"].fillna(0).to_numpy(np.int64)
    rest = total.copy()
    stacks: list[list[int]] = []
    above: list[int] = []
    for row, depth in enumerate(table["depth"]):
        del above[depth:]
        parent = (row - 1 if row else None) if tree.kind == "op" else (above[-1] if above else None)
        if parent is not None:
            rest[parent] -= total[row]
        above.append(row)
        stacks.append(above[::-1])
    frames = tree.frames or [None] * len(table)
    lines = [(name, *(frame[:2] if frame else ("", 0))) for name, frame in zip(table["name"], frames, strict=True)]
    runs = table["occurrences"].tolist()
    samples = [Sample([lines[row] for row in stack], (runs[stack[0]], int(rest[stack[0]]))) for stack in stacks]
    return attribute, _PPROF_UNITS.get(attribute.rpartition("_")[2], "count"), samples
