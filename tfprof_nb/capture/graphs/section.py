"""Describe functions and all that they call, as columns that hold every text once."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from tfprof_nb.capture.graphs.function_nodes import Argument, Call, FunctionNodes, describe
from tfprof_nb.capture.graphs.keras_layers import (
    Layer,
    Node,
    forward_node,
    layers_by_path,
    layers_of,
    layers_of_weights,
    phase,
)
from tfprof_nb.capture.graphs.layer_lines import lines_of
from tfprof_nb.capture.graphs.session_nodes import SessionRuns, session_nodes, signature_of
from tfprof_nb.capture.graphs.signature import Traced, signature
from tfprof_nb.capture.graphs.source_lines import Origin, SourceLines, texts_of
from tfprof_nb.capture.sidecar import Interned
from tfprof_nb.formats.sidecar import SESSION_GRAPH_NAME, FunctionEntry, GraphsSection, LayersTable, VariablesTable

MAX_NODES = 50_000
_TF_DATA_FUNCTION = "__inference_Dataset_"


@dataclass(frozen=True, eq=False)
class Root:
    """A function that Python called, and what is known of its arguments.

    Attributes
    ----------
    variables
        The `tf.Variable` behind each argument, or None.
    models
        The Keras models that it may run.
    traced
        TensorFlow's own object, which knows the arguments that it was traced for.
    """

    name: str
    arguments: Sequence[Argument]
    variables: Sequence[Any | None]
    batch: int | None
    models: Sequence[Any]
    traced: Any = None


class _Kept(NamedTuple):
    """A function's nodes, and the calls whose results were needed to describe them."""

    nodes: FunctionNodes
    called: list[Call]


# By function and arguments: the next capture in a notebook needs most of them again.
_kept: dict[str, dict[Hashable, _Kept]] = {}


class _Variable(NamedTuple):
    """A variable; ``model`` is false for variables of an optimizer or a metric, and for counters."""

    name: str
    dtype: str
    parameters: int | None
    trainable: bool
    model: bool
    handle: int
    identity: int


@dataclass(eq=False)
class _Function:
    """A described function, with columns that need more than its definition."""

    name: str
    called: bool
    batch: int | None
    nodes: FunctionNodes
    asked: tuple[str, ...]
    origins: list[Origin]
    python: str = ""
    signature: Sequence[Traced] = ()
    given: int | None = None


def section(roots: Sequence[Root], sessions: Sequence[SessionRuns] = (), *, complete: bool) -> GraphsSection | None:
    """Describe the functions that Python called, those that they call, those of tf.data, and the graphs of sessions."""
    models = (model for root in roots for model in root.models)
    described = _Section({id(weight._value): weight.trainable for model in models for weight in model.weights})  # noqa: SLF001
    for root in roots:
        described.try_to(root.name, partial(described.add, root, called=True))
    for number, runs in enumerate(sessions, start=1):
        name = f"{SESSION_GRAPH_NAME} {number}" if number > 1 else SESSION_GRAPH_NAME
        described.try_to(name, partial(described.add_session, name, runs))
    # Which of the functions of tf.data (map, filter and so on) ran is not known.
    for name in sorted(name for name in _functions() if name.startswith(_TF_DATA_FUNCTION)):
        described.try_to(name, partial(described.add, Root(name, (), (), None, ()), called=False))
    described.keep()
    if not complete:
        described.notes.append("More functions ran than are described here: the later ones are missing.")
    return described.content() if described.functions else None


def _functions() -> set[str]:
    from tensorflow.python.eager import context

    return set(context.context().list_function_names())


def _given(root: Root) -> int | None:
    """Return how many of a function's arguments its caller gives; None if that is unknown."""
    captures = getattr(getattr(root.traced, "function_type", None), "captures", None)
    return None if captures is None else len(root.arguments) - len(captures)


def _bytes(handle: Any) -> bytes | None:
    return None if handle is None else handle.SerializeToString()


class _Section:
    def __init__(self, weights: Mapping[int, bool]) -> None:
        self._weights, self._objects = weights, Interned[Hashable]()
        self.functions: dict[str, _Function] = {}
        self.notes: list[str] = []
        self._strings, self._layers = Interned[str](), Interned[Layer]()
        self._variables, self._lines = Interned[_Variable](), SourceLines()
        self._layers_of: dict[str, list[int]] = {}
        self._keras_layers: dict[str, Any] = {}
        self._layers_of_weights: dict[int, Layer] = {}
        self._nodes = 0
        self._used = defaultdict[str, dict[Hashable, _Kept]](dict)

    def try_to(self, name: str, describe: Callable[[], None]) -> None:
        """Describe a function and all that it calls. If that fails, note it and go on with other functions."""
        before = list(self.functions)
        try:
            describe()
        except Exception as error:  # noqa: BLE001  (TensorFlow may raise anything for an unusual graph)
            self.functions = {name: self.functions[name] for name in before}
            self.notes.append(f"{name} could not be described: {type(error).__name__}: {error}")

    def add(self, root: Root, *, called: bool) -> None:
        """Describe a function and all that it calls."""
        if root.name in self.functions:
            self.functions[root.name].called |= called
            return
        before = len(self.functions)
        numbers = [-1 if each is None else self._variables.number(self._variable(each)) for each in root.variables]
        arguments = tuple(
            argument._replace(variable=number) for argument, number in zip(root.arguments, numbers, strict=True)
        )
        self._describe(Call(-1, "call", root.name, arguments), root.batch)
        if root.name in self.functions:
            function = self.functions[root.name]
            function.called, function.signature = called, signature(root.traced, self._objects)
            function.given = _given(root)
            function.python = str(getattr(getattr(root.traced, "_cached_graph", None), "name", ""))
        self._find_layers(list(self.functions.values())[before:], root.models)

    def add_session(self, name: str, runs: SessionRuns) -> None:
        """Describe the graph of a session."""
        variables = {one.op.name: one for one in runs.graph.get_collection("variables")}
        numbers = {name: self._variables.number(self._session_variable(one)) for name, one in variables.items()}
        nodes = session_nodes(runs, numbers)
        lines = self._lines.of_operations(map(runs.graph.get_operation_by_name, nodes.names))
        origins = [lines.get(node, self._lines.none) for node in nodes.names]
        self.functions[name] = function = _Function(name, True, None, nodes, (), origins, signature=signature_of(runs))
        self._find_layers([function], ())

    def _describe(self, call: Call, batch: int | None) -> Sequence[Argument]:
        """Describe a function, once for equal arguments, and return its results."""
        known = self.functions.get(call.function)
        asked = tuple(f"{argument.shape}{argument.variable}" for argument in call.arguments)
        if known is not None and known.asked == asked:
            return known.nodes.results
        if known is None and self._nodes > MAX_NODES:
            return []
        nodes = self._nodes_of(call, batch)
        self._nodes += len(nodes.names) if known is None else 0
        lines = self._lines.of_function(call.function)
        origins = [lines.get(name, self._lines.none) for name in nodes.names]
        self.functions[call.function] = _Function(call.function, False, batch, nodes, asked, origins)
        return nodes.results

    def _nodes_of(self, call: Call, batch: int | None) -> FunctionNodes:
        """Describe the nodes of a function and all that it calls, reusing what an earlier capture found."""
        given = tuple((str(each.shape), _bytes(each.handle), each.variable) for each in call.arguments)
        kept = _kept.get(call.function, {}).get((batch, given))
        if kept is None:
            called: list[Call] = []

            def describe_called(inner: Call) -> Sequence[Argument]:
                called.append(inner)
                return self._describe(inner, batch)

            kept = _Kept(describe(call.function, call.arguments, batch, describe_called), called)
        else:
            for inner in kept.called:
                self._describe(inner, batch)
        self._used[call.function][batch, given] = kept
        return kept.nodes

    def keep(self) -> None:
        """Keep the descriptions of functions that still exist for later captures."""
        _kept.update(self._used)
        for gone in _kept.keys() - _functions():
            del _kept[gone]

    def _find_layers(self, functions: Sequence[_Function], models: Sequence[Any]) -> None:
        self._layers_of_weights |= layers_of_weights(models)
        nodes = [node for function in functions for node in self._keras_nodes(function)]
        layers = iter([-1 if layer is None else self._layers.number(layer) for layer in layers_of(nodes, models)])
        self._keras_layers |= layers_by_path(models)
        for function in functions:
            self._layers_of[function.name] = [next(layers) for _ in function.origins]

    def _keras_nodes(self, function: _Function) -> list[Node]:
        variables = [""] + [self._path(variable) for variable in self._variables.values()]
        columns = zip(function.nodes.names, function.origins, function.nodes.variables, strict=True)
        return [Node(name, origin.files, variables[variable + 1]) for name, origin, variable in columns]

    def _path(self, variable: _Variable) -> str:
        """Return a variable's path in Keras: its name in TensorFlow lacks the layers inside a layer of the user's."""
        owner = self._layers_of_weights.get(variable.identity)
        return f"{owner.name}/{variable.name.rpartition('/')[2]}" if owner else variable.name

    def content(self) -> GraphsSection:
        """Return the section."""
        intern = self._strings.numbers
        functions = [self._entry(function) for function in self.functions.values()]
        variables = self._variables.values()
        owners = [self._layers_of_weights.get(variable.identity) for variable in variables]
        of_variables = [-1 if owner is None else self._layers.number(owner) for owner in owners]
        layers = self._layers.values()
        made_at = self._lines_of_layers(layers)
        frames = self._lines.columns(self._strings)
        return GraphsSection(
            frames=frames,
            traces=self._lines.traces.values(),
            variables=VariablesTable(
                name=intern(variable.name for variable in variables),
                dtype=intern(variable.dtype for variable in variables),
                parameters=[variable.parameters for variable in variables],
                trainable=[variable.trainable for variable in variables],
                model=[variable.model for variable in variables],
                layer=of_variables,
            ),
            layers=LayersTable(
                name=intern(layer.name for layer in layers), type=intern(layer.type for layer in layers), frame=made_at
            ),
            functions=functions,
            notes=self.notes,
            sources=texts_of(frame.file for frame in self._lines.frames.values()),
            strings=self._strings.values(),  # last: all above add to them
        )

    def _lines_of_layers(self, layers: Sequence[Layer]) -> list[int]:
        """Return the frame of the line that makes each layer, -1 if that is not certain."""
        own = {layer.name: self._keras_layers[layer.name] for layer in layers if layer.name in self._keras_layers}
        made = lines_of(own, [frame.file for frame in self._lines.frames.values()]) if own else {}
        return [self._lines.frames.number(made[layer.name]) if layer.name in made else -1 for layer in layers]

    def _entry(self, function: _Function) -> FunctionEntry:
        nodes, intern = function.nodes, self._strings.numbers
        numbers = {name: number for number, name in enumerate(nodes.names)}
        places = {name: number for number, name in enumerate(self.functions)}
        return FunctionEntry(
            name=function.name,
            called=function.called,
            batch=function.batch,
            names=intern(nodes.names),
            ops=intern(nodes.ops),
            devices=intern(nodes.devices),
            outputs=intern(nodes.outputs),
            takes=intern(nodes.takes),
            inputs=nodes.inputs,
            traces=[origin.trace for origin in function.origins],
            by_keras=[int(origin.by_keras) for origin in function.origins],
            forward=[forward_node(name, numbers) for name in nodes.names],
            layers=self._layers_of[function.name],
            phases=intern(phase(node) for node in self._keras_nodes(function)),
            float_ops=nodes.float_ops,
            variables=nodes.variables,
            calls=[(call.node, call.role, places.get(call.function, -1)) for call in nodes.calls],
            python=function.python,
            signature=list(function.signature),
            arguments=nodes.arguments,
            given=function.given,
        )

    def _session_variable(self, variable: Any) -> _Variable:
        size, trainable = variable.shape.num_elements(), bool(variable.trainable)
        dtype = variable.dtype.base_dtype.name
        return _Variable(variable.op.name, dtype, size, trainable, trainable, -1, id(variable))

    def _variable(self, variable: Any) -> _Variable:
        name = variable.name.rpartition(":")[0] or variable.name
        # Only Keras knows that a frozen layer is not trainable. Variables of optimizers are not trainable either.
        trainable = bool(self._weights.get(id(variable), variable.trainable))
        size, own = variable.shape.num_elements(), trainable or id(variable) in self._weights
        dtype, handle = variable.dtype.base_dtype.name, variable.handle._id  # noqa: SLF001
        return _Variable(name, dtype, size, trainable, own, handle, id(variable))
