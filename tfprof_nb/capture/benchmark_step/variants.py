"""A step as it is and changed: functions without arguments that run one step, or several, on a batch in memory."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.benchmark_input.trial import told
from tfprof_nb.capture.benchmark_step.keras_copy import copied_model
from tfprof_nb.capture.tensorflow import tensorflow

AS_IT_IS = "as it is"
STEPS_PER_EXECUTION = 10
_LARGER = (2, 4)
_TENSOR_CORES = (7, 0)  # the first compute capability that multiplies 16-bit numbers faster
_COMPILED = 'model.compile_from_config({{**model.get_compile_config(), "{name}": {value}}})'
_MIXED = 'keras.mixed_precision.set_global_policy("mixed_float16")  # before the model is made'


@dataclass(frozen=True)
class Step:
    """One variant: ``run`` does ``steps`` steps of ``examples`` each, and returns tensors that are ready after them."""

    name: str
    run: Callable[[], Any] = field(repr=False)
    examples: int
    steps: int = 1
    code: str = ""


def keras_steps(model: Any, copy: Any, batch: Any, left_out: list[str]) -> Iterator[Step]:
    """Yield the variants of a Keras model's step, on one copy of it."""
    examples = examples_of(batch)
    as_it_is, per_execution = bool(copy.jit_compile), int(copy.steps_per_execution)
    yield Step(AS_IT_IS, _trained(copy, batch), examples, per_execution)
    if not copy.run_eagerly:
        copy.jit_compile = not as_it_is
        if bool(copy.jit_compile) == as_it_is:
            left_out.append("jit_compile=True is left out: a layer of the model does not support it.")
        else:
            code = _COMPILED.format(name="jit_compile", value=not as_it_is)
            yield Step(f"jit_compile={not as_it_is}", _trained(copy, batch), examples, per_execution, code)
        copy.jit_compile = as_it_is
    if per_execution == 1 and not copy.run_eagerly:
        copy.steps_per_execution = STEPS_PER_EXECUTION
        code = _COMPILED.format(name="steps_per_execution", value=STEPS_PER_EXECUTION)
        run = _trained(copy, batch)
        yield Step(f"steps_per_execution={STEPS_PER_EXECUTION}", run, examples, STEPS_PER_EXECUTION, code)
        copy.steps_per_execution = 1
    if why := _no_mixed_precision():
        left_out.append(f"Mixed precision is left out: {why}.")
    elif copy is not model and str(getattr(model.dtype_policy, "name", "")) == "float32":
        try:
            mixed = copied_model(model, batch, "mixed_float16")
            yield Step("mixed_float16", _trained(mixed, batch), examples, per_execution, _MIXED)
        except TfprofError as error:
            left_out.append(f"Mixed precision is left out: {error}")
    for times in _LARGER:
        larger = repeated(batch, times)
        yield Step(f"batch of {times * examples}", _trained(copy, larger), times * examples, per_execution)


def function_steps(function: Callable[..., Any], batch: Any) -> Iterator[Step]:
    """Yield the variants of a function's step. A `tf.function` is traced anew: your own is not called."""
    tf = tensorflow()
    written, traced = getattr(function, "python_function", None), tf.function
    own = function if written is None else traced(written, **_options(function))
    name, examples = getattr(written or function, "__name__", "step"), examples_of(batch)
    source = name if written is None else f"{name}.python_function"
    yield Step(AS_IT_IS, _called(own, batch), examples)
    compiled = bool(_options(function).get("jit_compile"))
    if written is None:
        yield Step("tf.function", _called(traced(function), batch), examples, 1, f"{name} = tf.function({name})")
    if not compiled:
        code = f"{name} = tf.function({source}, jit_compile=True)"
        run = _called(traced(written or function, jit_compile=True), batch)
        yield Step("jit_compile=True", run, examples, 1, code)
    for times in _LARGER:
        larger = repeated(batch, times)
        fresh = own if written is None else traced(written, **_options(function))
        yield Step(f"batch of {times * examples}", _called(fresh, larger), times * examples)


def trace(function: Callable[..., Any], batch: Any) -> None:
    """Trace a function, so that variables which it makes in its first call are there, with their first values."""
    written = getattr(function, "python_function", function)
    given = arguments(function, tensorflow().nest.map_structure(tensorflow().convert_to_tensor, batch))
    with suppress(Exception):  # what can't be traced is called as it is
        tensorflow().function(written).get_concrete_function(*given)


def examples_of(batch: Any) -> int:
    """Return the size of a batch: the first dimension of its first array.

    Raises
    ------
    TfprofError
        If nothing in it has one.
    """
    shapes = [tuple(getattr(each, "shape", ())) for each in tensorflow().nest.flatten(batch)]
    sizes = [int(shape[0]) for shape in shapes if shape and shape[0] is not None]
    if not sizes or not sizes[0]:
        wanted = "give what the model or function takes, as (x, y)"
        if hasattr(batch, "element_spec"):
            raise TfprofError(f"This is a dataset: take one batch of it, next(iter(dataset)), and {wanted}.")
        raise TfprofError(f"The batch is empty or has no arrays: {wanted}.")
    return sizes[0]


def repeated(batch: Any, times: int) -> Any:
    """Return a batch of so many times the size, with the same examples again."""
    tf, examples = tensorflow(), examples_of(batch)

    def larger(each: Any) -> Any:
        tensor = tf.convert_to_tensor(each)
        return tf.concat([tensor] * times, 0) if tensor.shape.rank and tensor.shape[0] == examples else tensor

    return tf.nest.map_structure(larger, batch)


def arguments(function: Callable[..., Any], batch: Any) -> tuple[Any, ...]:
    """Return the arguments for a batch: the batch itself, or its parts where the function takes several."""
    written = getattr(function, "python_function", function)
    try:
        takes = [
            each
            for each in inspect.signature(written).parameters.values()
            if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) and each.default is each.empty
        ]
    except (TypeError, ValueError):  # no signature
        return (batch,)
    return tuple(batch) if isinstance(batch, tuple | list) and len(takes) == len(batch) != 1 else (batch,)


def _trained(model: Any, batch: Any) -> Callable[[], Any]:
    """Return what trains a model for an execution, with a function of its own."""
    model.train_function = None
    model.make_train_function(force=True)
    step, batches = model.train_function, iter(tensorflow().data.Dataset.from_tensors(batch).repeat())
    return lambda: step(batches)


def _called(function: Callable[..., Any], batch: Any) -> Callable[[], Any]:
    tf = tensorflow()
    given = arguments(function, tf.nest.map_structure(tf.convert_to_tensor, batch))
    return lambda: function(*given)


def _options(function: Any) -> dict[str, Any]:
    """Return the options of a `tf.function` that change how it runs."""
    names = {"jit_compile": "_jit_compile", "reduce_retracing": "_reduce_retracing", "autograph": "_autograph"}
    return {name: getattr(function, own) for name, own in names.items() if getattr(function, own, None) is not None}


def _no_mixed_precision() -> str:
    """Say why 16-bit numbers gain nothing here; empty if they may."""
    config = tensorflow().config
    gpus = config.list_physical_devices("GPU")
    if not gpus:
        return "TensorFlow sees no GPU here"
    try:
        found = config.experimental.get_device_details(gpus[0]).get("compute_capability") or (0, 0)
    except Exception as error:  # noqa: BLE001 - whatever the driver says
        return f"the GPU does not tell what it can do ({told(error)})"
    version = ".".join(map(str, found))
    return "" if found >= _TENSOR_CORES else f"a GPU of compute capability {version} has no fast 16-bit numbers"
