"""Lines derived from a GPU's streams: XLA modules, name scopes and ops, drawn above the kernels that they consist of.

The rules are those of `derived_timeline.cc` (XProf). XProf also shortens nested scopes of one span by a nanosecond
each, so that its viewer can order them; here their depth does that, and times stay as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int32, Int64, Objects
from tfprof_nb.analysis.events.devices import GPU
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.names import MOST_SCOPES
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
        What it shows: ``statements``, ``python``, ``modules``, ``scopes`` or ``ops``, and its label.
    names, start_ps, end_ps
        Its events, by start and then by depth.
    host_event
        Per event: the first of the host's events that it was made of.
    """

    of: int
    kind: str
    label: str
    names: Objects
    start_ps: Int64
    end_ps: Int64
    host_event: Int64


def device_lines(forest: Forest, group: Int32) -> list[DerivedLine]:
    """Derive the lines of every stream of one host's GPUs.

    Neighbouring kernels of one op and one step are one event, idle time between them included; another op between them
    ends it. Streams without ops get none, nor do devices that have such lines in the file.

    Parameters
    ----------
    group
        Per event: the number of its step, -1 for none.
    """
    kernels = _kernels(forest)
    if not len(kernels):
        return []
    labels = label_ops(forest)
    names = _full_names(labels)
    modules = forest.host.texts("hlo_module")
    step = _steps_of_kernels(forest, kernels, group)
    lines = []
    for line in np.unique(forest.host.line[kernels]).tolist():
        here = np.flatnonzero(forest.host.line[kernels] == line)
        lines += _modules(forest, line, kernels[here], step[here], modules)
        with_op = here[labels.code[kernels[here]] >= 0]
        mine, code = kernels[with_op], labels.code[kernels[with_op]].astype(np.int64)
        lines += _line(forest, line, "scopes", mine, _scopes(code, labels), step[with_op])
        lines += _line(forest, line, "ops", mine, [(code, names)], step[with_op])
    return lines


def _kernels(forest: Forest) -> Int64:
    """Return the kernels on streams of devices that have no derived lines in the file."""
    host = forest.host
    derived = {host.lines[line].plane for line in np.flatnonzero(forest.line_is_derived)}
    plain = [
        bool(device) and line.plane not in derived and host.planes[line.plane].name.startswith(GPU)
        for line, device in zip(host.lines, forest.line_is_device, strict=True)
    ]
    if not any(plain):
        return np.zeros(0, dtype=np.int64)
    ran = np.zeros(len(host), dtype=bool)
    for stat in (host.texts("kernel_details"), host.ints("cuda_graph_exec_id")):
        ran[stat.rows] = True
    return np.flatnonzero(ran & np.array(plain)[host.line])


def _steps_of_kernels(forest: Forest, kernels: Int64, group: Int32) -> Int64:
    """Return the step of each kernel; a kernel without one has that of the kernel before it on its device.

    ``group`` has one entry per event of the host, the result one per kernel.
    """
    plane = forest.planes_of(kernels)
    order = np.lexsort((forest.host.start_ps[kernels], plane))
    in_order = group[kernels][order]
    known = pd.Series(in_order, dtype="Int64").mask(in_order < 0)
    filled = np.full(len(kernels), -1, dtype=np.int64)
    filled[order] = known.groupby(plane[order]).ffill().fillna(-1).to_numpy(np.int64)
    return filled


def _full_names(labels: OpLabels) -> Objects:
    """Return the ops' names in the form of the host's events: ``name:Type``."""
    pairs = zip(labels.op_name, labels.op_type, strict=True)
    return np.array([f"{name}:{kind}" if kind and ":" not in name else name for name, kind in pairs], dtype=object)


def _modules(forest: Forest, line: int, kernels: Int64, step: Int64, module: Stat) -> list[DerivedLine]:
    if module.categories is None:
        return []
    code, run = module.at(kernels).astype(np.int64), forest.ints_at("scope_range_id", kernels)
    compiled = np.flatnonzero(code >= 0)
    runs = pd.MultiIndex.from_arrays([step[compiled], run[compiled]]).factorize()[0]
    return _line(forest, line, "modules", kernels[compiled], [(code[compiled], module.categories)], runs)


def _scopes(code: Int64, labels: OpLabels) -> list[tuple[Int64, Objects]]:
    """Return the levels of name scopes, the outermost first: per kernel the code of its scope, and the scopes' names.

    ``code`` is each kernel's op; where an op has no scope of a level, its code there is -1.
    """
    levels = []
    for prefixes in _prefixes(labels.op_name):
        numbers, texts = pd.factorize(prefixes)  # missing is -1
        levels.append((numbers[code], np.array([text.rpartition("/")[2] for text in texts], dtype=object)))
    return levels


def _prefixes(names: Objects) -> Iterator[Objects]:
    """Yield for each level the scope of every op down to that level; None for ops with fewer scopes."""
    parts = [str(name).split("/", MOST_SCOPES)[:-1] for name in names]
    for level in range(1, max(map(len, parts), default=0) + 1):
        yield np.array(["/".join(part[:level]) if len(part) >= level else None for part in parts], dtype=object)


def _line(
    forest: Forest, of: int, kind: str, kernels: Int64, levels: list[tuple[Int64, Objects]], step: Int64
) -> list[DerivedLine]:
    """Join neighbouring kernels of one code and one step, level by level; -1 is no code.

    Codes and ``step`` have one entry per kernel.
    """
    start, end = forest.host.start_ps[kernels], forest.ends_ps(kernels)
    parts = []
    for depth, (code, texts) in enumerate(levels):
        first = np.flatnonzero((np.diff(code, prepend=-2) != 0) | (np.diff(step, prepend=-2) != 0))
        if len(first):
            ends = np.maximum.reduceat(end, first)
            columns = {
                "start_ps": start[first],
                "end_ps": ends,
                "host_event": kernels[first],
                "depth": depth,
                "code": code[first],
            }
            runs = pd.DataFrame(columns).query("code >= 0")
            parts.append(runs.assign(name=texts[runs["code"].to_numpy()]))
    if not any(map(len, parts)):
        return []
    events = pd.concat(parts).sort_values(["start_ps", "depth"], kind="stable")
    per_event = (events[name].to_numpy() for name in ("name", "start_ps", "end_ps", "host_event"))
    return [DerivedLine(of, kind, LABELS[kind], *per_event)]
