"""The graphs that sessions of TensorFlow 1 run during a capture, with the shapes of what they are fed.

A graph holds more than a step runs, such as what initializes and saves variables. Only what repeated runs need is
described.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tfprof_nb.capture.graphs.function_nodes import (
    MAX_NODES_TO_INFER,
    FunctionNodes,
    float_ops_of,
    keep_data_flow,
    tensor_text,
)
from tfprof_nb.capture.graphs.signature import MAX_ARGUMENTS, Traced
from tfprof_nb.capture.patching import replaced

MAX_GRAPHS = 4
_MAX_KINDS, _MAX_SHAPES = 50, 20  # of runs of a graph, and of arrays that a placeholder is fed
_PLACEHOLDERS = ("Placeholder", "PlaceholderWithDefault")


@dataclass(eq=False)
class SessionRuns:
    """The runs of one graph.

    Attributes
    ----------
    asked
        How many runs asked for each set of operations, by their names.
    fed
        How many arrays of each shape were fed to each tensor, by the tensor's name.
    """

    graph: Any
    asked: Counter[frozenset[str]] = field(default_factory=Counter)
    fed: defaultdict[str, Counter[tuple[int, ...]]] = field(default_factory=lambda: defaultdict(Counter))

    def note(self, operations: Iterable[Any], feeds: Mapping[Any, Any]) -> None:
        """Note the operations that a run asks for, and the shapes of what it feeds, by references to tensors."""
        wanted = frozenset(operation.name for operation in operations)
        if wanted in self.asked or len(self.asked) < _MAX_KINDS:
            self.asked[wanted] += 1
        for tensor, array in feeds.items():
            shape, shapes = getattr(array, "shape", None), self.fed[tensor.deref().name]
            if isinstance(shape, tuple) and (shape in shapes or len(shapes) < _MAX_SHAPES):
                shapes[shape] += 1

    @property
    def repeated(self) -> set[str]:
        """The operations that repeated runs ask for; those of all runs where none is repeated."""
        again = [wanted for wanted, count in self.asked.items() if count > 1]
        return {name for wanted in again or self.asked for name in wanted}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape that each tensor was fed most often, by the tensor's name."""
        return {name: shapes.most_common(1)[0][0] for name, shapes in self.fed.items() if shapes}


@contextmanager
def noting_sessions(ran: dict[int, SessionRuns]) -> Iterator[None]:
    """Note what sessions run while the block runs, by their graphs."""
    from tensorflow.python.client.session import BaseSession

    run = vars(BaseSession)["_do_run"]

    @functools.wraps(run)
    def do_run(self: Any, handle: Any, targets: Any, fetches: Any, feeds: Any, *args: Any) -> Any:
        __tracebackhide__ = True
        graph = self.graph
        if id(graph) not in ran and len(ran) < MAX_GRAPHS:
            ran[id(graph)] = SessionRuns(graph)
        if id(graph) in ran:
            ran[id(graph)].note([*targets, *(tensor.op for tensor in fetches)], feeds)
        return run(self, handle, targets, fetches, feeds, *args)

    with replaced(BaseSession, "_do_run", do_run):
        yield


def session_nodes(runs: SessionRuns, variables: Mapping[str, int]) -> FunctionNodes:
    """Return the nodes that the repeated runs of a graph need; ``variables`` are numbered by their nodes' names."""
    definition = _needed(runs.graph.as_graph_def(), runs.repeated)
    number = {node.name: i for i, node in enumerate(definition.node)}
    for node in definition.node:
        keep_data_flow(node)
    sources = [[text.partition(":")[0] for text in node.input] for node in definition.node]
    operations = [runs.graph.get_operation_by_name(name) for name in number]
    nodes = FunctionNodes(
        names=list(number),
        ops=[node.op for node in definition.node],
        devices=[node.device for node in definition.node],
        inputs=[[number[source] for source in some] for some in sources],
        variables=[min((variables[one] for one in some if one in variables), default=-1) for some in sources],
        arguments=[],
    )
    with_shapes = _inferred(definition, operations, runs.shapes)
    nodes.outputs = [";".join(map(tensor_text, one.outputs)) for one in with_shapes]
    nodes.takes = [";".join(map(tensor_text, one.inputs)) for one in with_shapes]
    nodes.float_ops = [float_ops_of(one) for one in with_shapes]
    return nodes


def signature_of(runs: SessionRuns) -> list[Traced]:
    """Return what the runs are fed, as the arguments of a function."""
    tensors = {name: runs.graph.get_tensor_by_name(name) for name in list(runs.shapes)[:MAX_ARGUMENTS]}
    return [
        Traced(tensor.op.name, "tensor", f"{tensor.dtype.name}[{','.join(map(str, runs.shapes[name]))}]")
        for name, tensor in tensors.items()
    ]


def _needed(definition: Any, wanted: set[str]) -> Any:
    """Return the part of a graph that some nodes need."""
    sources = {node.name: [text.lstrip("^").partition(":")[0] for text in node.input] for node in definition.node}
    needed, waiting = set[str](), [name for name in wanted if name in sources]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += sources[name]
    kept = [node for node in definition.node if node.name in needed]
    part = type(definition)(versions=definition.versions, library=definition.library)
    part.node.extend(kept)
    return part


def _inferred(definition: Any, operations: Sequence[Any], shapes: Mapping[str, tuple[int, ...]]) -> Sequence[Any]:
    """Return operations with the shapes that follow from what is fed, or as they are where these do not fit."""
    import tensorflow as tf

    fed = {name.partition(":")[0]: shape for name, shape in shapes.items()}
    given = [node for node in definition.node if node.op in _PLACEHOLDERS and node.name in fed]
    if not given or len(operations) > MAX_NODES_TO_INFER:
        return operations
    for node in given:
        node.attr["shape"].shape.CopyFrom(tf.TensorShape(fed[node.name]).as_proto())
    graph = tf.Graph()
    try:
        with graph.as_default():
            tf.graph_util.import_graph_def(definition, name="")
    except (ValueError, tf.errors.OpError):  # the program tells TensorFlow shapes that what is fed most has not
        return operations
    return [graph.get_operation_by_name(operation.name) for operation in operations]
