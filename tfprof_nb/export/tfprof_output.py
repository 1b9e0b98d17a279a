"""tfprof's outputs of a view of a graph: text, a timeline for Chrome's trace viewer, a profile for pprof."""

import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tfprof_nb.analysis.graph.graph import GraphTree
from tfprof_nb.analysis.graph.options import ORDERS
from tfprof_nb.export.pprof import Sample, pprof

_COLUMN = {"params": "parameters"}
_PPROF_UNITS = {"micros": "microseconds", "bytes": "bytes"}
_NUMBERS = ("params", "float_ops", "bytes", "peak_bytes", "residual_bytes", "output_bytes")
_TIMES = ("micros", "accelerator_micros", "cpu_micros")
_DESCRIBING = ("device", "op_types", "occurrence", "input_shapes")
# In the order of tfprof, which is another in its views by op type and by code.
_ORDER = (*_NUMBERS, *_TIMES, *_DESCRIBING)
_ORDER_OF_OPS = (*_NUMBERS[2:], *_TIMES, *_NUMBERS[:2], *_DESCRIBING)
_HEADS = {
    "params": "# parameters",
    "float_ops": "# float_ops",
    "bytes": "requested bytes",
    "peak_bytes": "peak bytes",
    "residual_bytes": "residual bytes",
    "output_bytes": "output bytes",
    "micros": "total execution time",
    "accelerator_micros": "accelerator execution time",
    "cpu_micros": "cpu execution time",
    "device": "assigned devices",
    "op_types": "op types",
    "occurrence": "op count (run|defined)",
    "input_shapes": "input shapes",
}
_OPTIONS = f"{'=' * 25}Options{'=' * 29}"
_REPORT, _END = f"{'=' * 18}Model Analysis Report{'=' * 22}", f"{'=' * 22}End of Report{'=' * 26}"
_NAME_WIDTH, _VALUE_WIDTH, _RUNS_WIDTH = 25, 30, 10
_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"))
_MICROS = ((864e8, "d"), (36e8, "h"), (6e7, "min"), (1e6, "sec"), (1e3, "ms"))
_COUNTS = ((1e9, "b"), (1e6, "m"), (1e3, "k"))


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
    """Return a view as tfprof writes it: indented lines with own/total of what was selected, or a list of op types.

    To stdout the options come first. What is unknown is 0, as in tfprof.
    """
    of_ops, of_nodes = tree.kind == "op", tree.kind in ("scope", "graph")
    selected = [name for name in (_ORDER if of_nodes else _ORDER_OF_OPS) if name in _with_parts(tree.options.select)]
    heads = [_HEADS[name] if of_nodes else _HEADS[name].replace("op count", "op occurrence") for name in selected]
    parts = [_written(tree, name) for name in selected]
    lines = ["Profile:", " | ".join(["node name", *heads])]
    for row, (name, depth) in enumerate(zip(tree.table["name"], tree.table["depth"], strict=True)):
        values = ", ".join(
            part[row] for name, part in zip(selected, parts, strict=True) if part[row] or name != "device"
        )
        if not of_ops:
            lines.append(f"{'  ' * depth}{name} ({values})")
        elif row:
            lines.append(f"{name:<{_NAME_WIDTH}}{values}")
    lines += [f"Note: {note}" for note in tree.notes]
    if tree.options.output_type != "stdout":
        return "\n".join(["", *lines]) + "\n"
    return "\n".join(["", _OPTIONS, *_options_of(tree), "", _REPORT, "", *lines, "", _END]) + "\n"


def _with_parts(select: Sequence[str]) -> set[str]:
    """Add to the time of ops its parts, on accelerators and on CPUs, as tfprof does."""
    return {*select, *(_TIMES if "micros" in select else ())}


def _options_of(tree: GraphTree) -> list[str]:
    values = {option.name: getattr(tree.options, option.name) for option in fields(tree.options)}
    del values["dump_to_file"]
    values["output"] = "stdout:"
    return [f"-{name:<27}{_option_text(value)}" for name, value in values.items()]


def _option_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _written(tree: GraphTree, attribute: str) -> list[str]:
    """Write one attribute of every row."""
    table = tree.table
    if attribute == "occurrence":
        return _runs(tree)
    if attribute in _DESCRIBING:
        return list(table[attribute])
    name = _COLUMN.get(attribute, attribute)
    own, total = (np.nan_to_num(table[f"{kind}_{name}"].to_numpy(np.float64)) for kind in ("self", "total"))
    texts = [[_number(value, attribute) for value in values] for values in (own, total)]
    if tree.kind == "op":
        whole = max(float(total[0]), 1.0)
        unit = {"params": " params", "float_ops": " float_ops"}.get(attribute, "")
        rest = np.where(own > 0, total, 0) if attribute.endswith("bytes") else total
        shares = zip(texts[0], 100 * rest / whole, 100 * own / whole, strict=True)
        return [f"{f'{text}{unit} ({rest:.2f}%, {mine:.2f}%)':>{_VALUE_WIDTH}}" for text, rest, mine in shares]
    texts[0][0] = "--"
    unit = {"params": " params", "float_ops": " flops"}.get(attribute, "")
    numbers = [f"{mine}/{whole}{unit}" for mine, whole in zip(*texts, strict=True)]
    return _after_shapes(tree, numbers) if attribute == "params" and tree.kind != "code" else numbers


def _runs(tree: GraphTree) -> list[str]:
    if tree.kind == "code":
        return ["occurrence N/A in code view"] * len(tree.table)
    columns = ("occurrences", "total_occurrences", "definitions", "total_definitions")
    rows = tree.table[list(columns)].itertuples(index=False)
    if tree.kind == "op":
        return [f"{f'{ran}|{defined}':>{_RUNS_WIDTH}}" for ran, _, defined, _ in rows]
    texts = [f"{ran}/{all_ran}|{defined}/{all_defined}" for ran, all_ran, defined, all_defined in rows]
    _, all_ran, _, all_defined = next(tree.table[list(columns)].itertuples(index=False))
    return [f"--/{all_ran}|--/{all_defined}", *texts[1:]]


def _after_shapes(tree: GraphTree, texts: list[str]) -> list[str]:
    """Put the shape before the parameters of a variable, as tfprof does."""
    shapes = tree.model.nodes["variable_shape"].to_numpy(object)
    scalar = np.where(tree.table["self_parameters"] == 1, "1", "")
    of_rows = [shapes[some[0]] or one if len(some) == 1 else "" for some, one in zip(tree.nodes, scalar, strict=True)]
    return [f"{shape}, {text}" if shape else text for shape, text in zip(of_rows, texts, strict=True)]


def _number(value: float, attribute: str) -> str:
    """Write a number in tfprof's units."""
    scales, smallest = (
        (_MICROS, "us") if attribute in _TIMES else (_BYTES, "B") if attribute.endswith("bytes") else (_COUNTS, "")
    )
    for scale, unit in scales:
        if value >= scale:
            return f"{value / scale:.2f}{unit}"
    return f"{value:.0f}{smallest}"


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
    """Draw each row as long as its total time, in a process per level; children follow one another from its start."""
    events: list[dict[str, Any]] = []
    begins, levels = [0.0], 0
    for name, depth, total in tree.table[["name", "depth", "total_micros"]].itertuples(index=False):
        del begins[depth + 1 :]
        start = begins[depth]
        begins[depth] = start + total
        begins.append(start)
        if total <= 0:
            continue
        events += [
            {"name": "process_name", "ph": "M", "pid": level, "args": {"name": f"Scope:{level}"}}
            for level in range(levels, depth + 1)
        ]
        levels = max(levels, depth + 1)
        events.append(_region(name, depth, 0, start, total))
    return events


def _region(name: str, pid: int, tid: int, start_us: float, duration_us: float) -> dict[str, Any]:
    place = {"pid": pid, "tid": tid, "ts": float(start_us), "dur": float(duration_us)}
    return {"name": name, "cat": "Op", "ph": "X", **place, "args": {"name": name, "op": name}}


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
