import ast
import re

import numpy as np

from tfprof_nb import _units
from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.advice import VECTORISING_MS, Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.source.placed_ops import creating_nodes
from tfprof_nb.analysis.source.syntax import replaced
from tfprof_nb.analysis.step_ops.small_ops import cost_of, with_costs
from tfprof_nb.analysis.step_ops.step_ops import StepOps, with_called
from tfprof_nb.decode.sections.graphs import Graphs

_CALL = re.compile(r"\bmap_fn\(")
_MANY, _SHORT_US = 100, 100.0
_OF_RAGGED = (
    "Its input is ragged, which tf.vectorized_map does not accept. Give the function the whole ragged tensor: "
    "many ops take one, such as `tf.gather(table, ragged)`, and reduce its rows, as `tf.reduce_mean(ragged, axis=1)`."
)
# Arguments of map_fn that say how, and not what, is computed: tf.vectorized_map has none of them.
_HOW = ("fn_output_signature", "dtype", "parallel_iterations", "swap_memory", "back_prop", "name", "infer_shape")

RULE = Rule(
    "map-fn",
    "tf.map_fn runs its function for one element after another",
    "Looks for `tf.map_fn` whose loop runs 100 ops or more in a step.",
    "It is a loop in the graph: each op is started once for each element. `tf.vectorized_map`, or ops on the whole "
    "tensor, start each op once.",
    action="Run each op once for all elements",
    page="source",
    moderate=20.0,
    high=30.0,
    saved=(0.4, None),
    supersedes=("many-small-ops", "python-between-ops", "dominant-op", "small-steps", "dominant-layer"),
    once_ms=VECTORISING_MS,
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    if not ops.steps:
        return
    graphs = ops.graphs
    frames = [frame for frame, text in enumerate(graphs.frames["text"].astype(str)) if _CALL.search(text)]
    shares = [(_share(ops, _in_traces(graphs, frame)), frame) for frame in frames]
    share, frame = max(shares, default=(0.0, -1))
    if frame < 0:
        return
    place, ragged = ops.place(frame), _is_ragged(graphs, frame)
    change = "" if ragged else vectorized(evidence.code, *line_at(place))
    yield Case(
        100 * share,
        finding=f"tf.map_fn runs its function for one element after another ({place})",
        evidence=f"{quoted(ops.code(frame))} is a loop in the graph. Its short ops, with their gradients, "
        f"take {_units.share(share)} of each step, with the time to start them.",
        fix=_OF_RAGGED
        if ragged
        else "Let tf.vectorized_map run each op once for all elements. Or give the function the whole tensor, if its "
        "ops work on it as they are.",
        place=place,
        change=change,
        once_ms=0.0 if ragged else None,
    )


def vectorized(code: Code, file: str, line: int) -> str:
    r"""Return a line with `tf.vectorized_map` in the place of `tf.map_fn`; empty if that is not a single plain call.

    Examples
    --------
    >>> code = Code({"cell": "y = tf.map_fn(f, (a, b), fn_output_signature=tf.float32) + 1"})
    >>> vectorized(code, "cell", 1)
    'y = tf.vectorized_map(f, (a, b)) + 1'
    """
    statement = code.statement(file, line)
    calls = code.calls(file, line, "map_fn")
    if statement is None or len(calls) != 1 or statement.lineno != line or hasattr(statement, "body"):
        return ""
    call = calls[0]
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    if len(call.args) > 2 or "Ragged" in str(given) or "Sparse" in str(given):
        return ""
    kept = [*map(ast.unparse, call.args), *(f"{name}={value}" for name, value in given.items() if name not in _HOW)]
    new = f"{ast.unparse(call.func).removesuffix('map_fn')}vectorized_map({', '.join(kept)})"
    return replaced(code.text(file), statement, call, new)


def _is_ragged(graphs: Graphs, frame: int) -> bool:
    """Whether what a line goes through is ragged: tf.vectorized_map takes no such tensors."""
    types = graphs.nodes["op"].astype(str)
    return bool(types[_in_traces(graphs, frame)].str.startswith("RaggedTensor").any())


def _share(ops: StepOps, own: Bools) -> float:
    """Return which part of the steps the short ops of a loop take; 0 if they are few, and so cost little to start.

    A long op computes: for all elements at once it takes as long as all of them together.
    """
    nodes = ops.once(with_costs)
    short = np.zeros(len(own), dtype=bool)
    short[nodes.index[nodes["us"] <= _SHORT_US]] = True
    cost, count = cost_of(ops, own & short)
    return max(ops.share(ops.ran(own & short)).covered, cost) if count >= _MANY else 0.0


def _in_traces(graphs: Graphs, frame: int) -> Bools:
    """Flag the nodes that a line made, itself or in what it calls, with those of their gradients."""
    through = np.array([frame in trace for trace in graphs.traces] + [False], dtype=bool)
    trace = graphs.nodes["trace"].to_numpy(np.int64)
    return with_called(graphs, through[trace] | through[trace[graphs.once(creating_nodes)]])
