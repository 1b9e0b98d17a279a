"""One function of TensorFlow's runtime as columns of nodes, with the shapes that follow from its arguments.

In: a function's name and arguments. Out: for each node its type, its inputs and outputs, its number of operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfprof_nb.formats.xspace import DATASET_OPS

MAX_NODES_TO_INFER = 20_000
_RESOURCE = 20  # DT_RESOURCE in types.proto

_DECIDING_OPS = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
_LOOP_OPS = frozenset({"While", "StatelessWhile"})
_ROLES = {"f": "call", "then_branch": "then", "else_branch": "else", "body": "body", "cond": "cond"}
_ROUNDS = 2  # how often shapes are inferred again because called functions have more exact results


class Argument(NamedTuple):
    """An argument or result of a function: a `tf.TensorShape`, and for handles what they refer to."""

    shape: Any
    handle: Any = None
    variable: int = -1


class Call(NamedTuple):
    """A call of a function: by which node, in which role, and with which arguments."""

    node: int
    role: str
    function: str
    arguments: tuple[Argument, ...]


@dataclass(eq=False)
class FunctionNodes:
    """The nodes of one function in the order of its definition, as columns (docs/sidecar.md).

    Attributes
    ----------
    results
        The function's results.
    arguments
        Which node takes which argument at which place among its inputs.
    """

    names: list[str]
    ops: list[str]
    devices: list[str]
    inputs: list[list[int]]
    variables: list[int]
    arguments: list[tuple[int, int, int]]
    outputs: list[str] = field(default_factory=list)
    takes: list[str] = field(default_factory=list)
    float_ops: list[float | None] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Argument] = field(default_factory=list)


Describe = Callable[[Call], Sequence[Argument]]
"""Describes a called function, and returns its results."""


def describe(name: str, arguments: Sequence[Argument], batch: int | None, called: Describe) -> FunctionNodes:
    """Return the nodes of a function.

    Parameters
    ----------
    arguments
        Its arguments; those missing at the end are unknown.
    batch
        The batch size of the pipelines' elements, if it is known.
    called
        Called for each function that it calls.
    """
    import tensorflow as tf
    from tensorflow.python.eager import context

    definition = context.context().get_function_def(name)
    taken = definition.signature.input_arg
    given = [*arguments, *[Argument(tf.TensorShape(None))] * (len(taken) - len(arguments))]
    variables = {arg.name: argument.variable for arg, argument in zip(taken, given, strict=True)}
    nodes = _from_definition(definition, variables)
    if len(nodes.names) <= MAX_NODES_TO_INFER:
        _infer(nodes, _Graph(definition, given, batch), variables, called)
    else:
        nodes.outputs = nodes.takes = [""] * len(nodes.names)
        nodes.float_ops = [None] * len(nodes.names)
    return nodes


def _from_definition(definition: Any, variables: dict[str, int]) -> FunctionNodes:
    """Return what the definition says without shapes."""
    written = definition.node_def
    number = {node.name: i for i, node in enumerate(written)}
    argument = {name: i for i, name in enumerate(variables)}
    sources = [[text.split(":", 1)[0] for text in node.input if not text.startswith("^")] for node in written]
    return FunctionNodes(
        names=[node.name for node in written],
        ops=[node.op for node in written],
        devices=[node.device for node in written],
        inputs=[[number[source] for source in some if source in number] for some in sources],
        variables=[max((variables.get(source, -1) for source in some), default=-1) for some in sources],
        arguments=[
            (node, place, argument[source])
            for node, some in enumerate(sources)
            for place, source in enumerate(some)
            if source in argument
        ],
    )


def _infer(nodes: FunctionNodes, graph: _Graph, variables: dict[str, int], called: Describe) -> None:
    """Add the columns that depend on shapes, also on those of called functions' results."""
    for _ in range(_ROUNDS):
        nodes.calls = list(graph.calls(variables))
        if not graph.learn(
            {node: _results(node, nodes, called) for node in dict.fromkeys(c.node for c in nodes.calls)}
        ):
            break
    nodes.outputs = [graph.outputs(node) for node in nodes.names]
    nodes.takes = [graph.takes(node) for node in range(len(nodes.names))]
    nodes.float_ops = [float_ops_of(graph.operation(node)) for node in nodes.names]
    nodes.results = graph.results()


def _results(node: int, nodes: FunctionNodes, called: Describe) -> list[Argument]:
    """Describe all functions that a node calls, and return the node's results."""
    calls = [call for call in nodes.calls if call.node == node]
    given = [called(call) for call in calls]
    if nodes.ops[node] not in _LOOP_OPS:
        return _common(given)
    # A loop returns the results of its body: sizes that the body changes are unknown.
    body = next(results for call, results in zip(calls, given, strict=True) if call.role == "body")
    kept = _common([calls[0].arguments, body])
    if [str(each.shape) for each in kept] != [str(each.shape) for each in calls[0].arguments]:
        for call in calls:
            called(call._replace(arguments=tuple(kept)))
    return kept


def _common(given: Sequence[Sequence[Argument]]) -> list[Argument]:
    """Return what lists of shapes have in common."""
    return [same[0]._replace(shape=_common_shape([each.shape for each in same])) for same in zip(*given, strict=False)]


def _common_shape(shapes: Sequence[Any]) -> Any:
    shape = shapes[0]
    for other in shapes[1:]:
        shape = shape.most_specific_compatible_shape(other)
    return shape


class _Graph:
    """A function's body as a separate graph, in which TensorFlow infers shapes from the arguments."""

    def __init__(self, definition: Any, arguments: Sequence[Argument], batch: int | None) -> None:
        from tensorflow.python.framework import function_def_to_graph

        self._body, flat_name = function_def_to_graph.function_def_to_graph_def(definition)
        self._returned = [flat_name[definition.ret[arg.name]] for arg in definition.signature.output_arg]
        # The first nodes are placeholders, for the arguments.
        self._nodes = self._body.node[len(arguments) :]
        self._known: dict[str, Argument] = {}
        for node, argument in zip(self._body.node, arguments, strict=False):
            if not _write_argument(node, argument):
                self._known[f"{node.name}:0"] = argument
        for node in self._body.node:
            keep_data_flow(node)
            _fill_in_batch(node, batch)
        self._used = {text for node in self._nodes for text in map(_with_index, node.input)}
        self._types = {f"{node.name}:0": node.attr["dtype"].type for node in self._body.node[: len(arguments)]}
        self._import()

    def _import(self) -> None:
        import tensorflow as tf

        self._graph, self._texts = tf.Graph(), dict[str, str]()
        with self._graph.as_default():
            self._given = {name: _placeholder(self._types[name], known) for name, known in self._known.items()}
            used = {name: tensor for name, tensor in self._given.items() if name in self._used}
            tf.graph_util.import_graph_def(self._body, used, name="")

    def _tensor(self, name: str) -> Any:
        given = self._given.get(name)
        return self._graph.get_tensor_by_name(name) if given is None else given

    def calls(self, variables: dict[str, int]) -> Iterator[Call]:
        """Yield the calls of nodes; ``variables`` says which arguments of this function are variables."""
        for number, node in enumerate(self._nodes):
            roles = [(role, name) for role, name in _functions(node) if name]
            if not roles:
                continue
            handed = [_with_index(text) for text in node.input]
            handed = handed[1:] if node.op in _DECIDING_OPS else handed
            taken = tuple(self._argument(name)._replace(variable=variables.get(name[:-2], -1)) for name in handed)
            for role, name in roles:
                yield Call(number, role, name, taken)

    def _argument(self, name: str) -> Argument:
        tensor = self._tensor(name)
        return Argument(tensor.shape, _handle(tensor))

    def learn(self, results: dict[int, list[Argument]]) -> bool:
        """Use the results of calls; return whether that changed a shape."""
        found = {
            f"{self._nodes[node].name}:{i}": result for node, given in results.items() for i, result in enumerate(given)
        }
        news = {name: result for name, result in found.items() if self._is_new(name, result)}
        if not news:
            return False
        self._types |= {name: self._tensor(name).dtype.as_datatype_enum for name in news}
        self._known |= news
        self._import()
        return True

    def _is_new(self, name: str, result: Argument) -> bool:
        shape = self._tensor(name).shape
        return (
            name in self._used
            and shape.is_compatible_with(result.shape)
            and str(shape.merge_with(result.shape)) != str(shape)
        )

    def operation(self, node: str) -> Any:
        """Return a node as TensorFlow's operation."""
        return self._graph.get_operation_by_name(node)

    def outputs(self, node: str) -> str:
        """Return a node's outputs as text."""
        return ";".join(self._text(output.name) for output in self.operation(node).outputs)

    def takes(self, node: int) -> str:
        """Return a node's inputs as text."""
        return ";".join(map(self._text, map(_with_index, self._nodes[node].input)))

    def _text(self, name: str) -> str:
        if name not in self._texts:
            self._texts[name] = tensor_text(self._tensor(name))
        return self._texts[name]

    def results(self) -> list[Argument]:
        """Return the function's results."""
        return [self._argument(name) for name in self._returned]


def _functions(node: Any) -> Iterator[tuple[str, str]]:
    """Yield the role and the name of every function that a node calls."""
    for key, value in node.attr.items():
        if value.HasField("func") and key in _ROLES:
            yield _ROLES[key], value.func.name
        for number, branch in enumerate(value.list.func if key == "branches" else ()):
            yield f"branch{number}", branch.name


def keep_data_flow(node: Any) -> None:
    """Remove references to nodes whose data is not used: they can name arguments, which are not nodes."""
    data = [text for text in node.input if not text.startswith("^")]
    del node.input[:]
    node.input.extend(data)
    node.attr.pop("_class", None)


def _fill_in_batch(node: Any, batch: int | None) -> None:
    """Set the batch size of a pipeline's elements, where the graph leaves their first dimension open."""
    if batch is None or node.op not in DATASET_OPS:
        return
    for shape in node.attr["output_shapes"].list.shape:
        if shape.dim and shape.dim[0].size < 0:
            shape.dim[0].size = batch


def _with_index(text: str) -> str:
    return text if ":" in text else f"{text}:0"


def _write_argument(node: Any, argument: Argument) -> bool:
    """Write an argument into its placeholder; return whether a definition can hold it."""
    if argument.handle is None:
        node.attr["shape"].shape.CopyFrom(argument.shape.as_proto())
        return True
    if node.attr["dtype"].type != _RESOURCE:
        return False
    (held,) = argument.handle.shape_and_type
    node.op = "VarHandleOp"
    node.attr["dtype"].type = held.dtype
    node.attr["shape"].shape.CopyFrom(held.shape)
    return True


def _placeholder(dtype: int, known: Argument) -> Any:
    import tensorflow as tf
    from tensorflow.python.ops import handle_data_util

    tensor = tf.compat.v1.placeholder(tf.dtypes.as_dtype(dtype), known.shape)
    if known.handle is not None:
        handle_data_util.set_handle_data(tensor, known.handle)
    return tensor


def _handle(tensor: Any) -> Any:
    """Return what TensorFlow knows of the variable or list behind a handle; None if it is not a handle."""
    from tensorflow.python.ops import handle_data_util

    if tensor.dtype.name not in ("resource", "variant"):
        return None
    data = handle_data_util.get_resource_handle_data(tensor)
    return data if data.is_set else None


def float_ops_of(operation: Any) -> float | None:
    """Return TensorFlow's count of the operations of a node; None if it has none for its type or shapes."""
    from tensorflow.python.framework import ops
    from tensorflow.python.util import deprecation

    try:
        with deprecation.silence():
            counted = ops.get_stats_for_node_def(operation.graph, operation.node_def, "flops").value
    except Exception:  # noqa: BLE001  (formulas can raise anything if a shape is unknown)
        return None
    return None if counted is None else float(counted)


def tensor_text(tensor: Any) -> str:
    """Write a tensor's type and shape as ``float32[32,?]``; a TensorFlow 1 variable has its value's type."""
    return f"{tensor.dtype.base_dtype.name}{shape_text(tensor.shape)}"


def shape_text(shape: Any) -> str:
    """Write a shape as ``[32,10]``, with ``?`` for an unknown size and ``[...]`` for an unknown rank."""
    if shape.rank is None:
        return "[...]"
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"
