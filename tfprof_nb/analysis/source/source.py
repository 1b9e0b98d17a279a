"""Time by line of code, in the notebook's cell and in other files of the user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import not_for
from tfprof_nb.analysis.result import Result, empty_table
from tfprof_nb.analysis.source.cell_lines import unrecorded_factor
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.placed_ops import KEYS, OP_TYPES, creating_nodes, placed_ops, users_traces
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.decode.sections.cell import Cell
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.marks import CELL_LINE, CELL_LINE_EVENTS

COLUMNS = ["line", "code", "self_ms", "op_ms", "occurrences", "called_op_ms", "gradient_ms", "file", "event"]
_OP_COLUMNS = ["file", "line", *[key for key in KEYS[2:] if key != "node"], "op_ms", "occurrences", "absorbed"]
_PLACE = ["file", "line"]
# From this share of op time on, a note reports the ops that belong to no line.
_UNPLACED_SHARE = 0.1
# A function is clearly the slowest if its ops took more than so many times as long as those of the others.
_CLEAR_FACTOR = 2
_NOTHING = (
    "This profile has no lines of code: it was recorded elsewhere, or with --no-lines. Capture with %%tfprofile in a "
    "cell (or with tfprof_nb.profile(), for ops only) to see time by line."
)
_LINES = "lines of code that the capture recorded"
_NO_CELL = (
    "Only %%tfprofile on top of a cell records how long the lines of the cell took. These are the lines whose ops ran."
)
_ESTIMATED = (
    "{lines} ran too often to be timed each time: their total time is exact, but its division among them is an "
    "estimate."
)
_EXTRAPOLATED = (
    "{lines} ran more than {kept:,} times: only the first {kept:,} runs have events, and the time of the ops that ran "
    "eagerly there is extrapolated from these."
)
_COMPILED = (
    "XLA compiled some functions: its instructions do not record their lines, so the time of such a function belongs "
    "to the line that called it."
)
_UNPLACED = (
    "{percent:.0f}% of op time belongs to no line: that of ops in Keras' and TensorFlow's own input pipelines, in "
    "functions that no longer exist and in sessions of TensorFlow 1, and of XLA's instructions on other threads."
)


@dataclass(eq=False, kw_only=True)
class SourceLines(Result):
    """Time by line; `table` has the cell's lines in order, then other lines by file.

    Attributes
    ----------
    all_ops
        Every op with its line: ``file line op_name op_type side gradient phase layer kind op_ms occurrences absorbed``.
    functions
        For each function, the line that is in the tracebacks of all its ops: ``function file line op_ms``. ``op_ms`` is
        the time of its ops and of those of functions that it calls.
    """

    all_ops: pd.DataFrame
    functions: pd.DataFrame

    def ops(self, line: int, file: str | None = None) -> pd.DataFrame:
        """Return the ops that a line created or ran, the longest first.

        Parameters
        ----------
        line
            The line's number.
        file
            The file, as in the table; None is the cell, or without a cell the only file.
        """
        files = self.table["file"]
        wanted = (files.iloc[0] if len(files) else "") if file is None else file
        chosen = (self.all_ops["file"] == wanted) & (self.all_ops["line"] == line)
        return self.all_ops[chosen].sort_values("op_ms", ascending=False, ignore_index=True)

    def line_of(self, name: str) -> str:
        """Return where an op was created, or a function was called or given to tf.data; empty if that is unknown.

        Parameters
        ----------
        name
            An op's name, or part of a function's name, e.g. ``Dataset_map``, that no other function has.

        Examples
        --------
        >>> import tensorflow as tf, tfprof_nb as tp
        >>> with tp.profile() as p:
        ...     pass
        >>> p.source.line_of("MatMul")
        ''
        """
        fitting = self.functions[self.functions["function"].str.contains(name, regex=False)]
        if len(fitting) != 1:
            fitting = self.all_ops[(self.all_ops["op_name"] == name) & (self.all_ops["line"] > 0)].nlargest(1, "op_ms")
        return "" if fitting.empty else place_of(fitting["file"].iloc[0], fitting["line"].iloc[0])

    def slowest_function(self, name: str) -> str:
        """Return where the slowest of the functions whose names contain this part was called or given to tf.data.

        Empty if there is none, or if the functions of no line are clearly the slowest.
        """
        fitting = self.functions[self.functions["function"].str.contains(name, regex=False)]
        times = fitting.groupby(_PLACE)["op_ms"].sum().nlargest(2)
        if times.empty or (len(times) > 1 and times.iloc[0] <= _CLEAR_FACTOR * times.iloc[1]):
            return ""
        file, line = times.index[0]
        return place_of(str(file), int(line))


def source(
    forests: Sequence[Forest],
    graphs: Sequence[Graphs],
    cells: Sequence[Cell],
    labels: Sequence[Mapping[str, str]],
    groupings: Sequence[Grouping | None] = (),
    earlier_runs: Mapping[str, int] = MappingProxyType({}),
) -> SourceLines:
    """Divide time among lines of code.

    The table's columns are ``line code self_ms op_ms occurrences called_op_ms gradient_ms file event``.
    ``self_ms`` is the time for which a line of the cell ran, ``occurrences`` how often; the line of a loop or ``with``
    includes its work after each iteration or at its end. ``op_ms`` is the time of ops that the line created (with their
    gradients, ``gradient_ms``) or ran eagerly, summed over threads and devices, so that it can exceed the elapsed time.
    ``called_op_ms`` adds the ops created in functions that the line called. ``event`` shows the line in the trace: its
    own events, or its longest op. Values that do not apply to a line are missing.

    Parameters
    ----------
    forests, graphs, cells
        Per host: its events, the functions that ran there, and the cell that was captured.
    labels
        Per host: the labels of the notebook's cells, by the names of the files under which they were compiled.
    groupings
        Per host the group of each event, if it is known.
    earlier_runs
        The labels of cells with the text of the captured one, and by how much its line numbers exceed theirs. Graphs
        that they built count for the captured cell.

    Returns
    -------
    SourceLines
        Its summary has ``lines`` (the number of lines with a time or an op), ``cell_ms``, ``op_ms``, ``placed_op_ms``
        (of ops whose line is known), ``slowest_line`` by its own time and ``heaviest_line`` by the time of its ops
        (``file line code self_ms op_ms event share``); these can be None.
    """
    known_groups = groupings or [None] * len(forests)
    hosts = [_Host(*host) for host in zip(forests, graphs, cells, labels, known_groups, strict=True)]
    cell = next((host.cell for host in hosts if host.cell.text), Cell())
    labels_of = {file: label for host in hosts for file, label in host.cells.items()}
    earlier = {file: earlier_runs[label] for file, label in labels_of.items() if label in earlier_runs}
    ops, called, lines, functions = (
        _in_this_run(pd.concat(frames, ignore_index=True), earlier, cell.file)
        for frames in zip(*((host.ops, host.called, host.codes, host.functions) for host in hosts), strict=True)
    )
    codes = lines.drop_duplicates(_PLACE).set_index(_PLACE)["code"]
    table = _table(ops, called, codes, cell)
    known = labels_of | {cell.file: "cell"}
    table, ops = _labelled(table, known), _labelled(ops[_OP_COLUMNS], known)
    functions = _labelled(functions, known)
    result = SourceLines(table, _summary(table, ops), all_ops=ops, functions=functions)
    result.notes = _notes(result, cell, hosts) if result.summary["lines"] else [not_for(forests, _LINES) or _NOTHING]
    return result


def no_source() -> SourceLines:
    """Return the result for profiles without lines of code."""
    ops = empty_table({name: kind for name, kind in OP_TYPES.items() if name in _OP_COLUMNS})
    functions = pd.DataFrame(columns=["function", *_PLACE, "op_ms"])
    return SourceLines(pd.DataFrame(columns=COLUMNS), {}, [_NOTHING], all_ops=ops, functions=functions)


class _Host:
    """The lines of one host."""

    def __init__(
        self, forest: Forest, graphs: Graphs, cell: Cell, labels: Mapping[str, str], grouping: Grouping | None
    ) -> None:
        self.graphs, self.cell, self.cells = graphs, cell, labels
        placed = placed_ops(forest, self.graphs, self.cell, grouping)
        ran_eagerly = placed.loc[(placed["node"] < 0) & (placed["line"] > 0), "line"]
        self.extrapolated = set(ran_eagerly) & set(unrecorded_factor(forest, self.cell).index)
        self.ops = placed.groupby([*KEYS[:-1], "absorbed"], as_index=False, sort=False)[["op_ms", "occurrences"]].sum()
        self.called = _called(placed, self.graphs)
        self.compiled = len(placed) > 0 and len(forest.host.texts("hlo_op").rows) > 0
        frames = self.graphs.frames
        self.codes = pd.DataFrame({"file": frames["file"], "line": frames["line"], "code": frames["text"]})
        self.functions = _functions(placed, self.graphs)


def _called(placed: pd.DataFrame, graphs: Graphs) -> pd.DataFrame:
    """Sum the time of ops by all other lines of their tracebacks than their own: ``file line called_op_ms``."""
    of_node = placed[placed["node"] >= 0].groupby("node")["op_ms"].sum()
    trace = graphs.nodes["trace"].to_numpy(np.int64)[graphs.once(creating_nodes)[of_node.index]]
    traces = [*users_traces(graphs), []]
    node_frames = [traces[number] for number in trace]
    spread = pd.DataFrame({"op_ms": of_node.to_numpy(), "node": of_node.index, "frame": node_frames}).explode("frame")
    spread = spread.dropna(subset="frame")
    place = graphs.frames.iloc[spread["frame"].astype(np.int64)]
    spread = spread.assign(file=place["file"].to_numpy(), line=place["line"].to_numpy())
    once = spread.drop_duplicates(["node", *_PLACE])  # a recursive function has its line there twice
    own = once.groupby("node").cumcount() == 0
    once = once.assign(op_ms=once["op_ms"].mask(own, 0.0))
    return once.groupby(_PLACE, as_index=False).agg(called_op_ms=("op_ms", "sum"))


def _functions(placed: pd.DataFrame, graphs: Graphs) -> pd.DataFrame:
    """Return each function's time, and the innermost line in the tracebacks of all its nodes: that of its call."""
    traces = users_traces(graphs)
    traced = graphs.nodes[graphs.nodes["trace"] >= 0].drop_duplicates(["function", "trace"])
    calls = dict[int, int]()
    for number in range(len(graphs.functions)):
        of_function = [traces[trace] for trace in traced.loc[traced["function"] == number, "trace"]]
        common = set.intersection(*map(set, of_function)) if of_function else set()
        if common:
            calls[number] = next(frame for frame in of_function[0] if frame in common)
    place = graphs.frames.iloc[list(calls.values())]
    times, called = _times_of_functions(placed, graphs), _called_by(graphs)
    of_calls = {
        "function": graphs.functions["name"].iloc[list(calls)].tolist(),
        "file": place["file"].tolist(),
        "line": place["line"].tolist(),
        "op_ms": [times[list({number, *called.get(number, ())} - {-1})].sum() for number in calls],
    }
    return pd.DataFrame(of_calls).astype({"function": object, "op_ms": np.float64})


def _times_of_functions(placed: pd.DataFrame, graphs: Graphs) -> Floats:
    """Return the time of the ops of each function's own nodes."""
    known = placed[placed["node"] >= 0]
    function = graphs.nodes["function"].to_numpy(np.int64)[known["node"].to_numpy(np.int64)]
    times: Floats = np.bincount(function, known["op_ms"].to_numpy(np.float64), len(graphs.functions)).astype(np.float64)
    return times


def _called_by(graphs: Graphs) -> dict[int, list[int]]:
    """Return for each function that calls others all that it calls, directly or not."""
    callers = graphs.nodes["function"].to_numpy(np.int64)[graphs.calls["node"].to_numpy(np.int64)]
    direct: dict[int, list[int]] = {}
    for caller, function in zip(callers.tolist(), graphs.calls["function"].tolist(), strict=True):
        direct.setdefault(caller, []).append(function)
    found = {caller: list(called) for caller, called in direct.items()}
    for called in found.values():
        for one in called:  # which grows meanwhile
            called += [each for each in direct.get(one, ()) if each not in called]
    return found


def _table(ops: pd.DataFrame, called: pd.DataFrame, codes: pd.Series, cell: Cell) -> pd.DataFrame:
    """Return the lines of the cell, then other lines with ops."""
    placed = ops[ops["line"] > 0]
    by_line = placed.groupby(_PLACE).agg(op_ms=("op_ms", "sum"), occurrences=("occurrences", "max"))
    by_line["gradient_ms"] = placed[placed["gradient"]].groupby(_PLACE)["op_ms"].sum()
    by_line["event"] = placed.sort_values("op_ms").groupby(_PLACE)["op_name"].last()
    by_line = by_line.join(called.groupby(_PLACE)["called_op_ms"].sum(), how="outer")
    by_line["called_op_ms"] += by_line["op_ms"].fillna(0)
    text = cell.text.splitlines()
    own = pd.DataFrame({"file": cell.file, "line": np.arange(1, len(text) + 1), "code": text}).set_index(_PLACE)
    own = own.join(by_line)
    own["self_ms"] = cell.times["self_ms"].reindex(range(1, len(text) + 1)).to_numpy()
    hits = cell.times["occurrences"].reindex(range(1, len(text) + 1)).to_numpy()
    own["occurrences"] = np.where(np.isnan(hits), own["occurrences"].astype(float), hits)
    events = pd.Series([f"{CELL_LINE}{line}" for line in range(1, len(text) + 1)], own.index, dtype=object)
    own["event"] = own["event"].where(np.isnan(own["self_ms"]) | (own["self_ms"] == 0), events)
    others = by_line[by_line.index.get_level_values("file") != cell.file].assign(self_ms=np.nan)
    others = others.assign(code=codes.reindex(others.index).fillna("").to_numpy())
    table = pd.concat([own, others]).reset_index()
    return table.astype({"occurrences": "Int64", "event": object})[COLUMNS]


def _in_this_run(frame: pd.DataFrame, earlier: Mapping[str, int], file: str) -> pd.DataFrame:
    """Move the lines of earlier runs of a cell to its own file."""
    if not (earlier and file):
        return frame
    is_earlier = frame["file"].isin(earlier)
    line = frame["line"] + frame["file"].map(earlier).fillna(0).astype(np.int64)
    return frame.assign(file=frame["file"].mask(is_earlier, file), line=line)


def _labelled(frame: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Replace the files of the notebook by their cells' labels."""
    return frame.assign(file=[labels.get(file, file) if file else "" for file in frame["file"]])


def _summary(table: pd.DataFrame, ops: pd.DataFrame) -> dict[str, Any]:
    return {
        "lines": int((table["self_ms"].fillna(0) + table["op_ms"].fillna(0) > 0).sum()),
        "cell_ms": float(table["self_ms"].sum()),
        "op_ms": float(ops["op_ms"].sum()),
        "placed_op_ms": float(ops.loc[ops["line"] > 0, "op_ms"].sum()),
        "slowest_line": _largest(table, "self_ms"),
        "heaviest_line": _largest(table, "op_ms"),
    }


def _largest(table: pd.DataFrame, column: str) -> dict[Any, Any] | None:
    values = table[column].fillna(0)
    if not values.max() > 0:
        return None
    row = table[["file", "line", "code", "self_ms", "op_ms", "event"]].to_dict("records")[int(values.argmax())]
    return row | {"code": row["code"].strip(), "share": float(values.max() / values.sum())}


def _notes(result: SourceLines, cell: Cell, hosts: Sequence[_Host]) -> list[str]:
    notes = [] if cell.text else [_NO_CELL]
    if cell.estimated:
        notes.append(_ESTIMATED.format(lines=_named(cell.estimated)))
    extrapolated = sorted({line for host in hosts for line in host.extrapolated})
    if extrapolated:
        notes.append(_EXTRAPOLATED.format(lines=_named(extrapolated), kept=CELL_LINE_EVENTS))
    notes += [_COMPILED] if any(host.compiled for host in hosts) else []
    op_ms, placed_ms = result.summary["op_ms"], result.summary["placed_op_ms"]
    if op_ms - placed_ms > _UNPLACED_SHARE * op_ms:
        notes.append(_UNPLACED.format(percent=100 * (op_ms - placed_ms) / op_ms))
    return notes + [note for host in hosts for note in host.graphs.notes]


def _named(lines: Sequence[int]) -> str:
    return f"Line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines))}"
