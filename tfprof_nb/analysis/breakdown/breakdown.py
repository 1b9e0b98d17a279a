"""Where the cell's wall time went: a tree of parts that have names, and add up.

The time of the main thread, from the cell's first to its last instant, is cut into pieces in which one thing went on. A
piece belongs to a phase and often to a step; the events of TensorFlow say what the thread did, samples of Python's
stacks say which line ran between them. While the thread waits for a function or for data, the time is that of the ops
and stages that ran then on other threads; where several ran at once, each gets the same part of the moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tfprof_nb._units import NS_PER_MS, PS_PER_MS, milliseconds
from tfprof_nb.analysis.breakdown.assembly import Assembly
from tfprof_nb.analysis.breakdown.code_of_samples import SampledCode, sampled_code
from tfprof_nb.analysis.breakdown.main_thread import MainThread, main_thread
from tfprof_nb.analysis.breakdown.phases import OF_KERAS, TRAIN
from tfprof_nb.analysis.breakdown.tree import ROOT, Tree
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.decode.sections.cell import Cell
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.decode.sections.python import PythonStacks

ONCE_KINDS = ("trace", "compile")  # what happens once, however long the training
# Kinds that only group others, or that nobody can act on.
_GENERAL = ("phase", "step", "unexplained", "other")
_NEARLY_ALL, _WHOLE = 0.8, 0.98
_NO_THREAD = (
    "No thread of this capture is known to run the program: time is that of the ops and kernels that ran, and in steps "
    "and between them what remains is unexplained."
)
_NO_SAMPLES = (
    "Without samples of Python's stacks, which %%tfprofile takes, time between TensorFlow's events is unexplained."
)
_PART = "{} of the cell's {} were recorded: the tree is that of this part."


@dataclass(eq=False, kw_only=True)
class Breakdown(Result):
    """The cell's time as a tree: ``id parent name kind place count total_ms self_ms share``, the root first.

    ``share`` is the part of the cell, 0 to 1. The children of a node and its own ``self_ms`` add up to its
    ``total_ms``. ``count`` is how often it ran, 0 where that is unknown. Where no cell was captured (not ``of_cell``),
    the root is the main thread's time from its first recorded event to its last.
    """

    of_cell: bool = True

    def largest(self, count: int = 5) -> pd.DataFrame:
        """Return the nodes with the most time that are specific enough to act on, none inside another."""
        return largest(self.table, count)

    def longest_step(self) -> tuple[pd.Series[Any] | None, pd.DataFrame]:
        """Return the kind of step that ran several times and took longest, and its parts without what happens once."""
        table = self.table
        found = table[(table["kind"] == "step") & (table["count"] > 1)]
        if found.empty:
            return None, found
        step = found.iloc[int(found["total_ms"].to_numpy().argmax())]
        return step, table[(table["parent"] == step["id"]) & ~table["kind"].isin(ONCE_KINDS)]


def no_breakdown() -> Breakdown:
    """Return the tree of no cell."""
    return Breakdown(
        Tree().table(), {"cell_ms": 0.0, "unexplained_share": 0.0, "largest": None, "line": "", "line_share": 0.0}, []
    )


def largest(table: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the nodes with the most time that are specific enough to act on, none inside another.

    These are all but steps, the training, loops of the program's own, and what has no name. What Keras does beside the
    training, such as the validation, is specific by itself.
    """
    trains = bool(((table["kind"] == "phase") & (table["name"] == TRAIN)).any())
    beside = (table["kind"] == "phase") & table["name"].isin(OF_KERAS) & (table["parent"] == ROOT) & trains
    specific = table[~table["kind"].isin(_GENERAL) | beside].sort_values("total_ms", ascending=False, kind="stable")
    chosen: list[str] = []
    for identity in specific["id"]:
        if len(chosen) == count:
            break
        best = _most_specific(table, identity)
        if not any(f"{best}/".startswith(f"{one}/") or f"{one}/".startswith(f"{identity}/") for one in chosen):
            chosen.append(best)
    return table.set_index("id", drop=False).loc[chosen].reset_index(drop=True)


def _most_specific(table: pd.DataFrame, identity: str) -> str:
    """Return the stage that a wait for data, or the start of a pass, is nearly all of; else the node itself."""
    node = table[table["id"] == identity].iloc[0]
    parts = table[(table["parent"] == identity) & (table["total_ms"] >= _NEARLY_ALL * node["total_ms"])]
    return str(parts["id"].iloc[0]) if node["kind"] in ("wait", "start") and len(parts) else identity


def breakdown(
    forest: Forest,
    steps: Steps,
    graphs: Graphs,
    cell: Cell,
    stacks: PythonStacks,
    labels: Mapping[str, str],
    text: Code,
) -> Breakdown:
    """Divide the time of one host's cell among the parts that have names.

    Parameters
    ----------
    graphs, cell, stacks
        What the sidecar says of the functions that ran, the cell, and Python's stacks.
    labels
        The names of notebook cells by the names of the files that they were compiled as.

    Returns
    -------
    Breakdown
        Its summary has ``cell_ms``, ``unexplained_share``, ``largest``, the id of the node that best names the
        largest cost (None if there is none), and ``line``, the program's line with the most time, with ``line_share``.
    """
    code = sampled_code(forest, stacks, labels)
    thread = main_thread(forest, cell, int(code.at_ps.max(initial=0)) + code.interval_ps)
    parts = Assembly(thread, code, text, steps, graphs, cell, labels)
    table = parts.tree().table()
    top, (line, line_share) = largest(table, 1), parts.line()
    summary = {
        "cell_ms": float(table["total_ms"].iloc[0]),
        "unexplained_share": float(table.loc[table["kind"] == "unexplained", "share"].sum()),
        "largest": None if top.empty else str(top["id"].iloc[0]),
        "line": line,
        "line_share": line_share,
    }
    return Breakdown(table, summary, _notes(thread, code, cell), of_cell=bool(cell.text))


def _notes(thread: MainThread, code: SampledCode, cell: Cell) -> list[str]:
    notes = [] if len(code.at_ps) else [_NO_SAMPLES if len(thread.events) else _NO_THREAD]
    cell_ms = (cell.ended_ns - cell.began_ns) / NS_PER_MS
    recorded_ms = (thread.end_ps - thread.begin_ps) / PS_PER_MS
    if cell_ms > 0 and recorded_ms < _WHOLE * cell_ms:
        notes.append(_PART.format(milliseconds(recorded_ms), milliseconds(cell_ms)))
    return notes
