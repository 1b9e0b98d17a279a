"""Python loops in traced functions: each iteration adds its ops to the graph anew."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.source.layer_frames import TRAINING_CALLS
from tfprof_nb.analysis.source.loops import calls_its_items
from tfprof_nb.analysis.source.placed_ops import creating_nodes, users_traces
from tfprof_nb.analysis.step_ops.step_ops import LOOP_ROLES, StepOps
from tfprof_nb.decode.sections.graphs import Graphs

_REPEATS, _MOST = 10, 0.5  # iterations at least, and the part of the graph


class UnrolledLoop(NamedTuple):
    """The line of a loop, and the share of the graph's nodes that its iterations make."""

    file: str
    line: int
    text: str
    share: float


def unrolled_loop(ops: StepOps, code: Code) -> UnrolledLoop | None:
    """Return the Python loop that makes most nodes of the functions that ran, if it makes most of them."""
    graphs = ops.graphs
    if graphs.nodes.empty:
        return None
    around = [code.loop(*line_at(ops.place(frame))) for frame in range(len(graphs.frames))]
    loops = [loop.lineno if loop is not None and not calls_its_items(loop) else 0 for loop in around]
    looped = [next((frame for frame in _inside(graphs, trace) if loops[frame]), -1) for trace in users_traces(graphs)]
    bodies = graphs.calls.loc[graphs.calls["role"].isin(LOOP_ROLES), "function"]
    nodes = graphs.nodes[~graphs.nodes["function"].isin(bodies)]
    created = graphs.nodes["trace"].to_numpy(np.int64)[graphs.once(creating_nodes)[nodes.index]]
    frames = np.array([*looped, -1], dtype=np.int64)[created]
    made, repeats = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for (frame, _), count in Counter(zip(frames.tolist(), nodes["op"], strict=True)).items():
        if frame >= 0:
            loop = line_at(ops.place(frame))[0], loops[frame]
            made[loop] += count
            repeats[loop] = max(repeats[loop], count)
    (file, line), count = max(made.items(), key=lambda one: one[1], default=(("", 0), 0))
    if not line or repeats[file, line] < _REPEATS or count < _MOST * len(nodes):
        return None
    return UnrolledLoop(file, line, code.line(file, line), count / len(nodes))


def _inside(graphs: Graphs, trace: Sequence[int]) -> Sequence[int]:
    """Return the part of a trace that is in the traced function: up to it, or up to the call of Keras that made it."""
    traced, frames = set(graphs.functions["python"]) - {""}, graphs.frames
    names, texts = (frames[column].iloc[list(trace)].astype(str).tolist() for column in ("function", "text"))
    last = max((place for place, name in enumerate(names) if name.rpartition(".")[2] in traced), default=-1)
    training = next((place for place, text in enumerate(texts) if re.search(TRAINING_CALLS, text)), 0)
    return trace[: last + 1] if last >= 0 else trace[:training]
