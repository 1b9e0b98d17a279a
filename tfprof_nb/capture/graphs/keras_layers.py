"""Find the Keras layer, and the part of a training step, that a node of a graph belongs to.

Scopes of a graph are not named like the layers (layers ``conv2d`` and ``conv2d_1`` can run in scopes ``conv2d_1`` and
``conv2d_1_2``). A layer with weights is recognised by the variables that its scope reads, a layer without weights by
its name and its order.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_BACKWARD_SCOPE = re.compile(r"^(gradient_tape|gradients)(_\d+)?/")
# The parts of a step, with parts of the names of files in their tracebacks; the first match counts.
_PHASES = (
    ("optimizer", ("/keras/src/optimizers/", "/keras/src/backend/tensorflow/optimizer")),
    ("metrics", ("/keras/src/metrics/",)),
    ("loss", ("/keras/src/losses/",)),
)


class Layer(NamedTuple):
    """A layer by its path (``outer/inner``) and its class."""

    name: str
    type: str


class Node(NamedTuple):
    """A node: its name, the files in its traceback, and the path of the variable that it reads."""

    name: str
    files: frozenset[str]
    variable: str


def phase(node: Node) -> str:
    """Return the part of a training step that a node belongs to; empty if no Keras model made it."""
    if not any("/keras/src/" in file for file in node.files):
        return "backward" if _BACKWARD_SCOPE.match(node.name) else ""
    for name, fragments in _PHASES:
        if any(fragment in file for file in node.files for fragment in fragments):
            return name
    return "backward" if _BACKWARD_SCOPE.match(node.name) else "forward"


def layers_of(nodes: Sequence[Node], models: Iterable[Any]) -> list[Layer | None]:
    """Return the layer of each node, for the nodes of functions that ran together."""
    layers = layers_by_path(models)
    by_scope = _by_variables(nodes, {path for path, layer in layers.items() if not _is_a("Model", layer)})
    _by_order(nodes, models, by_scope)
    found = {path: _found(path, layers) for path in by_scope.values()}
    cache: dict[str, Layer | None] = {}
    return [_innermost(_forward_name(node.name), by_scope, found, cache) for node in nodes]


def _found(path: str, layers: Mapping[str, Any]) -> Layer:
    """Return the layer at a path; for an RNN cell, its RNN layer, which is what the program makes."""
    outer = path.rpartition("/")[0]
    name = outer if path not in layers and outer in layers else path
    return Layer(name, type(layers[name]).__name__ if name in layers else "")


def layers_by_path(models: Iterable[Any]) -> dict[str, Any]:
    """Return the layers of models, as Keras' objects."""
    return {_path(layer): layer for model in models for layer in _all_layers(model)}


def layers_of_weights(models: Iterable[Any]) -> dict[int, Layer]:
    """Return the innermost layer that has each weight, by the identity of its `tf.Variable`."""
    layers = (layer for model in models for layer in _all_layers(model))  # outer layers come before inner ones
    return {
        id(weight._value): Layer(_path(layer), type(layer).__name__)  # noqa: SLF001
        for layer in layers
        for weight in layer.weights
    }


def forward_node(name: str, numbers: dict[str, int]) -> int:
    """Return the forward node that a node of the backward pass belongs to, or -1."""
    if not _BACKWARD_SCOPE.match(name):
        return -1
    return next((numbers[scope] for scope in _scopes(_forward_name(name)) if scope in numbers), -1)


def _forward_name(name: str) -> str:
    return _BACKWARD_SCOPE.sub("", name)


def _scopes(name: str) -> Iterator[str]:
    """Yield a name and its scopes, innermost first."""
    while name:
        yield name
        name = name.rpartition("/")[0]


def _named_after(scope: str, layer: str) -> bool:
    return scope == layer or (scope.startswith(f"{layer}_") and scope[len(layer) + 1 :].isdigit())


def _by_variables(nodes: Sequence[Node], known: set[str]) -> dict[str, str]:
    """Return layers by the scopes in which they ran, for scopes that read variables, or hold such; these are known."""
    found: dict[str, str] = {}
    for node in nodes:
        path = node.variable.rpartition("/")[0]
        scopes = [*_scopes(node.name)] if path and phase(node) in ("forward", "") else []
        around, scope = _scope_of(path, scopes)
        # A layer such as TimeDistributed calls `call` of the layer in it, which opens no scope then.
        while scopes and not scope and path.rpartition("/")[0] in known:
            path = path.rpartition("/")[0]
            around, scope = _scope_of(path, scopes)
        while scope:
            found.setdefault(scope, path)
            path = path.rpartition("/")[0]
            outer = path.rpartition("/")[2]
            inside = around if path in known else iter(())
            scope = next((scope for scope in inside if _named_after(scope.rpartition("/")[2], outer)), None)
    return found


def _scope_of(path: str, scopes: Sequence[str]) -> tuple[Iterator[str], str | None]:
    """Return the innermost scope that is named after a layer, and those around it."""
    own, around = path.rpartition("/")[2], iter(scopes)
    return around, next((scope for scope in around if _named_after(scope.rpartition("/")[2], own)), None)


def _by_order(nodes: Sequence[Node], models: Iterable[Any], by_scope: dict[str, str]) -> None:
    """Add the layers without weights by scopes named after them.

    In one call of a model each of its layers runs once, in order: the scopes that fit fewest layers choose first.
    """
    models = list(models)
    layers = [layer for model in models for layer in _all_layers(model)]
    weightless = {
        name: [layer for layer in own if not layer.weights] for name, own in _by_model(models, layers).items()
    }
    calls: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for node in nodes:
        for scope in _scopes(node.name) if phase(node) == "forward" else ():
            calls[scope.rpartition("/")[0]].setdefault(scope)
    for around, scopes in calls.items():
        outer = around.rpartition("/")[2]
        own = next((of for name, of in weightless.items() if name and _named_after(outer, name)), weightless[""])
        fitting = {
            scope: [layer for layer in own if _named_after(scope.rpartition("/")[2], layer.name)]
            for scope in scopes
            if scope not in by_scope
        }
        ran = set[int]()
        for scope, fits in sorted(fitting.items(), key=lambda item: len(item[1])):
            layer = next((each for each in fits if id(each) not in ran), fits[0] if fits else None)
            if layer is not None:
                by_scope[scope] = _path(layer)
                ran.add(id(layer))


def _by_model(models: Sequence[Any], layers: Sequence[Any]) -> dict[str, list[Any]]:
    """Return layers by the name of their model, nested ones last; by no name, all."""
    nested = [layer for layer in layers if _is_a("Model", layer)]
    return {"": list(layers)} | {model.name: _all_layers(model) for model in reversed([*models, *nested])}


def _all_layers(model: Any) -> list[Any]:
    layers = list(model._flatten_layers(include_self=False))  # noqa: SLF001  (`layers` leaves nested ones out)
    cells = {id(layer.cell) for layer in layers if _is_a("RNN", layer)}
    return [layer for layer in layers if id(layer) not in cells]


def _is_a(name: str, layer: Any) -> bool:
    return any(kind.__name__ == name for kind in type(layer).__mro__)


def _path(layer: Any) -> str:
    return str(layer.path or layer.name)  # a layer without weights is not always built


def _innermost(
    name: str, by_scope: dict[str, str], layers: dict[str, Layer], cache: dict[str, Layer | None]
) -> Layer | None:
    scope = name.rpartition("/")[0] if name not in by_scope else name
    if scope not in cache:
        cache[scope] = next((layers[by_scope[outer]] for outer in _scopes(scope) if outer in by_scope), None)
    return cache[scope]


def batch_of_keras(epoch_iterator: Any) -> int | None:
    """Return the size of the batches into which ``fit``, ``evaluate`` or ``predict`` splits arrays."""
    adapter: Any = getattr(epoch_iterator, "data_adapter", None)
    size, count = (getattr(adapter, name, None) for name in ("batch_size", "num_batches"))
    if not isinstance(size, int):
        return None
    return int((count == 1 and adapter.partial_batch_size) or size)
