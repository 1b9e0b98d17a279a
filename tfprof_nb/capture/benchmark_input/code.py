"""A changed pipeline as code: with the names that the user's program has for its functions and data."""

import ast
import inspect
import linecache
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfprof_nb.capture.benchmark_input.dataset_kinds import inputs_of
from tfprof_nb.capture.benchmark_input.pipelines import Pipeline
from tfprof_nb.capture.benchmark_input.stages import Function, Stage
from tfprof_nb.capture.benchmark_input.what_ifs import WhatIf
from tfprof_nb.capture.tensorflow import tensorflow

_SHORT = 5  # so many texts are written out
_OPTIONS = "options = tf.data.Options()\noptions.threading.private_threadpool_size = {size}\n"


def written(pipeline: Pipeline, change: WhatIf, names: Mapping[str, Any]) -> str:
    """Return a change as code that runs where the names are known; empty if it can't be written."""
    expected = pipeline.build(change.stages).element_spec
    for base in _bases(pipeline, change, names):
        code = _code(pipeline, change, base, names)
        if code and _makes(code, names, _name_of(pipeline.dataset, names), expected):
            return code
    return ""


def _bases(pipeline: Pipeline, change: WhatIf, names: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return what code can begin with, the best first: how many stages it has already, and the expression."""
    below, user = min(change.changed), _name_of(pipeline.dataset, names)
    datasets = [pipeline.dataset]
    expressions = [user]
    for stage in reversed(pipeline.stages):
        steps = 3 if stage.kind == "unbatch" else 1
        at = datasets[-1]
        for _ in range(steps):
            at = inputs_of(at)[0]
        datasets.append(at)
        expressions.append(expressions[-1] + "._inputs()[0]" * steps)
    datasets.reverse()
    expressions.reverse()
    named = [(k, _name(datasets[k], names)) for k in range(below, -1, -1)]
    made = _source(datasets[0], names)
    return [*((k, name) for k, name in named if name), *([(0, made)] if made else []), (below, expressions[below])]


def _code(pipeline: Pipeline, change: WhatIf, base: tuple[int, str], names: Mapping[str, Any]) -> str:
    begins, expression = base
    user = _name_of(pipeline.dataset, names)
    written_stages = [_stage(stage, user, names) for stage in change.stages[begins:]]
    if not all(written_stages):
        return ""
    new = change.stages[change.changed[0]]
    options = _OPTIONS.format(size=new.size) if new.kind == "with_options" else ""
    imports = "" if names.get("tf") is tensorflow() else "import tensorflow as tf\n\n"
    one_line = f"{user} = {expression}{''.join(written_stages)}"
    left = len(pipeline.stages) - begins
    last = f"the last {left} stages" if left > 1 else "the last stage"
    comment = f"  # {user} without {last}" if "._inputs()" in expression else ""
    if len(written_stages) == 1:
        return f"{imports}{options}{one_line}{comment}"
    chain = "".join(f"\n    {each}" for each in [f"{expression}{comment}", *written_stages])
    return f"{imports}{options}{user} = ({chain}\n)"


def _stage(stage: Stage, user: str, names: Mapping[str, Any]) -> str:
    if stage.kind == "with_options":
        return ".with_options(options)" if stage.size else f".with_options({user}.options())"
    function = _function(stage.function, names) if stage.function else ""
    if stage.function and not function:
        return ""
    return f".{stage.kind}({', '.join([*([function] if function else []), *(stage.exactly or stage.given)])})"


def _function(function: Function, names: Mapping[str, Any]) -> str:
    """Return a function's name in the program, or the text of a lambda."""
    given: Any = function.traced._func  # noqa: SLF001
    for one in (given, function.written):
        if name := _name(one, names):
            return name
    if (owner := getattr(given, "__self__", None)) is not None and (name := _name(owner, names)):
        return f"{name}.{given.__name__}"
    module: Any = inspect.getmodule(given)
    alias = _name(module, names) if module is not None else ""
    name = str(getattr(given, "__name__", ""))
    if alias and getattr(module, name, None) is given:
        return f"{alias}.{name}"
    return _lambda(given)


def _lambda(function: Any) -> str:
    """Return the text of a lambda if its line has only one."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_name != "<lambda>" or code.co_freevars:
        return ""
    try:
        nodes = ast.walk(ast.parse("".join(linecache.getlines(code.co_filename))))
    except SyntaxError:  # a cell with magics
        return ""
    found = [node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    return ast.unparse(found[0]) if len(found) == 1 else ""


def _source(dataset: Any, names: Mapping[str, Any]) -> str:
    """Return code that makes a source; empty if it needs what has no name."""
    kind = type(dataset).__name__
    if kind == "_RangeDataset":
        start, stop, step = (int(getattr(dataset, name).numpy()) for name in ("_start", "_stop", "_step"))
        given = [str(stop)] if (start, step) == (0, 1) else [str(start), str(stop), str(step)][: 2 + (step != 1)]
        return f"tf.data.Dataset.range({', '.join(given)})"
    if kind == "_TensorSliceDataset":
        data = _structure(tensorflow().nest.pack_sequence_as(dataset._structure, dataset._tensors), names)  # noqa: SLF001
        return f"tf.data.Dataset.from_tensor_slices({data})" if data else ""
    if kind == "TFRecordDatasetV2":
        files = _texts([each.numpy() for each in dataset._filenames])  # noqa: SLF001
        return f"tf.data.TFRecordDataset({files})" if files else ""
    return ""


def _structure(data: Any, names: Mapping[str, Any]) -> str:
    """Write nested tensors with the names of the arrays that they were made of."""
    if isinstance(data, tuple | list):
        parts = [_structure(each, names) for each in data]
        inner = ", ".join(parts) + ("," if len(parts) == 1 else "")
        return "" if not all(parts) else f"({inner})" if isinstance(data, tuple) else f"[{inner}]"
    if isinstance(data, dict):
        named = {key: _structure(each, names) for key, each in data.items()}
        return "{" + ", ".join(f"{key!r}: {value}" for key, value in named.items()) + "}" if all(named.values()) else ""
    value = data.numpy()
    equal = (name for name, each in names.items() if not name.startswith("_") and _is_array(each, value))
    return next(equal, "") or (_texts(value.tolist()) if value.dtype == object else "")


def _is_array(one: Any, value: Any) -> bool:
    if isinstance(one, list) and len(one) == len(value) and value.dtype == object:
        return bool([each.encode() if isinstance(each, str) else each for each in one] == value.tolist())
    held = one.numpy() if type(one).__name__ == "EagerTensor" else one
    alike = isinstance(held, np.ndarray) and held.shape == value.shape and held.dtype == value.dtype
    return alike and bool(np.array_equal(held, value))


def _texts(values: Sequence[Any]) -> str:
    if len(values) > _SHORT or not all(isinstance(each, bytes) for each in values):
        return ""
    return repr([each.decode(errors="replace") for each in values])


def _name_of(dataset: Any, names: Mapping[str, Any]) -> str:
    return _name(dataset, names) or "dataset"


def _name(thing: Any, names: Mapping[str, Any]) -> str:
    """Return the name that the program has for a thing; empty if it has none."""
    return next((name for name, each in names.items() if each is thing and not name.startswith("_")), "")


def _makes(code: str, names: Mapping[str, Any], user: str, expected: Any) -> bool:
    """Whether code runs, and makes elements of the expected kind. It runs on a copy of the names."""
    space = dict(names)
    try:
        exec(compile(code, "<tfprof_nb checks its advice>", "exec"), space)  # noqa: S102
        return bool(space[user].element_spec == expected)
    except Exception:  # noqa: BLE001 - such code is not shown
        return False
