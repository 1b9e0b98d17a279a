"""What a GPU's streams worked on: XLA modules, name scopes and ops, drawn above the kernels that make them up.

The rules are those of `derived_timeline.cc` (XProf). Upstream also shortens nested scopes of one span by a nanosecond
each, so that its viewer can order them; here their depth does that, and times stay as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.op_labels import OpLabels, label_ops
from tfprof_nb.decode.host import Stat

LABELS = {"modules": "XLA modules", "scopes": "Name scopes", "ops": "Ops"}


@dataclass(frozen=True, eq=False)
class DerivedLine:
    """A line made of another line's events.

    Attributes
    ----------
    of
        The line that it was made of.
    kind, label
        What it shows: ``statements``, ``modules``, ``scopes`` or ``ops``, and the same in words.
    names, start_ps, end_ps
        Its events, by start and then by depth.
    row
        Per event: the first of the host's events that it was made of.
    """

    of: int
    kind: str
    label: str
    names: Objects
    start_ps: Int64
    end_ps: Int64
    row: Int64


def device_lines(forest: Forest, group: Int64) -> list[DerivedLine]:
    """Derive the lines of every stream of one host's GPUs.

    Neighbouring kernels of one op and one step are one event, idle time between them included; another op in between
    ends it. Streams without ops, and devices whose file brings such lines, get none.

    Parameters
    ----------
    forest
        One host's events.
    group
        Per event: the number of its step, -1 for none.
    """
    rows = _kernels(forest)
    if not len(rows):
        return []
    labels = label_ops(forest)
    names = _full_names(labels)
    modules = forest.host.texts("hlo_module")
    group = _with_the_last(forest, rows, group)
    found = []
    for line in np.unique(forest.host.line[rows]).tolist():
        here = np.flatnonzero(forest.host.line[rows] == line)
        found += _modules(forest, line, rows[here], group[here], modules)
        with_op = here[labels.code[rows[here]] >= 0]
        mine, step, code = rows[with_op], group[with_op], labels.code[rows[with_op]]
        found += _line(forest, line, "scopes", mine, _scopes(code, labels), step)
        found += _line(forest, line, "ops", mine, [(code, names)], step)
    return found


def _kernels(forest: Forest) -> Int64:
    """Kernels on streams of devices that have no derived lines of their own."""
    host = forest.host
    brought = {host.lines[line].plane for line in np.flatnonzero(forest.line_is_derived)}
    plain = [
        bool(device) and line.plane not in brought and host.planes[line.plane].name.startswith("/device:GPU")
        for line, device in zip(host.lines, forest.line_is_device, strict=True)
    ]
    if not any(plain):
        return np.zeros(0, dtype=np.int64)
    ran = np.zeros(len(host), dtype=bool)
    for rows in (host.texts("kernel_details").rows, host.ints("cuda_graph_exec_id").rows):
        ran[rows] = True
    return np.flatnonzero(ran & np.array(plain)[host.line])


def _with_the_last(forest: Forest, rows: Int64, group: Int64) -> Int64:
    """The group of each kernel; one without a group takes that of the last kernel on its device."""
    host = forest.host
    plane = np.array([line.plane for line in host.lines])[host.line[rows]]
    order = np.lexsort((host.start_ps[rows], plane))
    known = pd.Series(group[rows][order], dtype="Int64").mask(group[rows][order] < 0)
    filled = np.full(len(rows), -1, dtype=np.int64)
    filled[order] = known.groupby(plane[order]).ffill().fillna(-1).to_numpy(np.int64)
    return filled


def _full_names(labels: OpLabels) -> Objects:
    """Names as those of ops on the host: ``name:Type``."""
    pairs = zip(labels.op_name, labels.op_type, strict=True)
    return np.array([f"{name}:{kind}" if kind and ":" not in name else name for name, kind in pairs], dtype=object)


def _modules(forest: Forest, line: int, rows: Int64, step: Int64, module: Stat) -> list[DerivedLine]:
    if module.categories is None:
        return []
    code, run = module.at(rows).astype(np.int64), forest.host.ints("scope_range_id").at(rows).astype(np.int64)
    compiled = np.flatnonzero(code >= 0)
    runs = pd.MultiIndex.from_arrays([step[compiled], run[compiled]]).factorize()[0]
    return _line(forest, line, "modules", rows[compiled], [(code[compiled], module.categories)], runs)


def _scopes(code: Int64, labels: OpLabels) -> list[tuple[Int64, Objects]]:
    """One level per name scope, the outermost first."""
    levels = []
    for prefixes in _prefixes(labels.op_name):
        numbers, texts = pd.factorize(prefixes)  # missing is -1
        levels.append((numbers[code], np.array([text.rpartition("/")[2] for text in texts], dtype=object)))
    return levels


def _prefixes(names: Objects) -> Iterator[Objects]:
    """For each level, the scope of every op up to that level; None where an op lies less deep."""
    parts = [str(name).split("/")[:-1] for name in names]
    for level in range(1, max(map(len, parts), default=0) + 1):
        yield np.array(["/".join(part[:level]) if len(part) >= level else None for part in parts], dtype=object)


def _line(
    forest: Forest, of: int, kind: str, rows: Int64, levels: list[tuple[Int64, Objects]], step: Int64
) -> list[DerivedLine]:
    """Join neighbours with one code and one step, level by level; a code of -1 belongs to no event."""
    start, end = forest.host.start_ps[rows], (forest.host.start_ps + forest.host.duration_ps)[rows]
    parts = []
    for depth, (code, texts) in enumerate(levels):
        first = np.flatnonzero((np.diff(code, prepend=-2) != 0) | (np.diff(step, prepend=-2) != 0))
        if len(first):
            ends = np.maximum.reduceat(end, first)
            columns = {"start": start[first], "end": ends, "row": rows[first], "depth": depth, "code": code[first]}
            runs = pd.DataFrame(columns).query("code >= 0")
            parts.append(runs.assign(name=texts[runs["code"].to_numpy()]))
    if not any(map(len, parts)):
        return []
    events = pd.concat(parts).sort_values(["start", "depth"], kind="stable")
    return [
        DerivedLine(of, kind, LABELS[kind], *(events[column].to_numpy() for column in ("name", "start", "end", "row")))
    ]
