"""The stages of a tf.data pipeline, and copies of it that share no state with it.

A dataset has state: a shuffle counts its iterators, a cache keeps elements. So nothing here iterates the user's
dataset: each stage is made again, with the function that was traced for it. Only stages without state are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.tensorflow import tensorflow

# A shuffle of a copy has this seed, so that copies can be compared.
SEED = 1
SMALL_BUFFER = 4
_STATEFUL = ("Shuffle", "Cache", "Snapshot", "Save", "Random")
_DETERMINISTIC = {"default": None, "true": True, "false": False}
_RANDOM = (
    "Random",
    "Multinomial",
    "TruncatedNormal",
    "StatefulStandard",
    "StatefulUniform",
    "RngSkip",
    "RngReadAndSkip",
)
_SOURCES = {
    "TensorSliceDataset": "from_tensor_slices",
    "TensorDataset": "from_tensors",
    "RangeDataset": "range",
    "ZipDataset": "zip",
    "ConcatenateDataset": "concatenate",
    "DirectedInterleaveDataset": "sample_from_datasets",
}
_PYTHON = ("EagerPyFunc", "PyFunc", "PyFuncStateless")


@dataclass(frozen=True)
class Function:
    """A function of a stage: as it was traced, and as the user wrote it."""

    traced: Any

    @property
    def written(self) -> Any:
        """The user's function."""
        return getattr(self.traced._func, "python_function", self.traced._func)  # noqa: SLF001

    @property
    def name(self) -> str:
        """The function's name; a lambda's is its line."""
        code = getattr(self.written, "__code__", None)
        name = str(getattr(self.written, "__name__", type(self.written).__name__))
        return f"lambda, line {code.co_firstlineno}" if name == "<lambda>" and code else name

    def __call__(self, *arguments: Any) -> Any:
        """Call what was traced: the user's Python does not run again."""
        from tensorflow.python.data.util import structure

        takes = self.traced._input_structure  # noqa: SLF001
        given = arguments if type(takes) is tuple else arguments[0]
        returned = self.traced.function(*structure.to_tensor_list(takes, given))
        return structure.from_tensor_list(self.traced.output_structure, returned)

    @property
    def captured(self) -> list[Any]:
        """The tensors and variables that it reads beside its arguments."""
        return list(self.traced.function.captured_inputs)

    @property
    def op_types(self) -> set[str]:
        """The types of its ops, those of the functions that it calls included."""
        definition = self.traced.function.graph.as_graph_def()
        nodes = [*definition.node, *(node for each in definition.library.function for node in each.node_def)]
        return {node.op for node in nodes}

    @property
    def is_random(self) -> bool:
        """Whether it has random ops. Stateless ones return the same for the same element."""
        return any(op.startswith(_RANDOM) for op in self.op_types)

    @property
    def is_python(self) -> bool:
        """Whether it runs Python for each element."""
        return not self.op_types.isdisjoint(_PYTHON)

    @property
    def reads_variables(self) -> bool:
        """Whether it reads a variable, which may have another value later."""
        return bool(self.op_types & {"ReadVariableOp", "VarHandleOp"})


@dataclass(frozen=True)
class Stage:
    """One stage of a pipeline.

    Attributes
    ----------
    kind
        The method of `tf.data.Dataset` that makes it; "source" for the first.
    given
        The arguments as code, without the function.
    build
        Makes the stage on an input.
    function
        The function that it calls, if any.
    per_element
        How many elements of its input it takes for one of its own; None if that has to be measured.
    size
        The elements of its buffer or batch.
    parallel
        Whether it works on several elements at once.
    of
        The user's dataset, of an interleave.
    exactly
        The arguments that give the same stage, if ``given`` leaves some out.
    """

    kind: str
    given: Sequence[str]
    build: Callable[[Any], Any] = field(repr=False)
    function: Function | None = None
    per_element: float | None = 1.0
    size: int = 0
    parallel: bool = False
    of: Any = field(default=None, repr=False)
    exactly: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The stage as users know it, such as ``map(decode)``."""
        if self.kind == "source":
            return self.given[0]
        return f"{self.kind}({', '.join([*([self.function.name] if self.function else []), *self.given])})"


@dataclass(frozen=True)
class Pipeline:
    """A pipeline as a source and the stages above it; ``dataset`` is the user's, and ``source_dataset`` part of it."""

    dataset: Any
    source_dataset: Any
    source: Stage
    stages: Sequence[Stage]

    def build(self, stages: Sequence[Stage] | None = None) -> Any:
        """Make a copy, with other stages if they are given."""
        made = self.source.build(None)
        for stage in self.stages if stages is None else stages:
            made = stage.build(made)
        return made

    @property
    def functions(self) -> list[Function]:
        """The functions of all stages, and of what the source is made of."""
        return [Function(each) for dataset in _all_of(self.dataset) for each in dataset._functions()]  # noqa: SLF001

    @property
    def is_random(self) -> bool:
        """Whether random ops make its elements."""
        return any(function.is_random for function in self.functions)

    @property
    def generator(self) -> str:
        """The name of the Python function that makes the elements of the source; empty if there is none."""
        made = [dataset for dataset in _all_of(self.dataset) if _is_generator(dataset)]
        return getattr(_generator_of(made[0]), "__name__", "its generator") if made else ""


def is_dataset(data: Any) -> bool:
    """Whether it is a tf.data dataset of one process, without importing TensorFlow to ask."""
    return hasattr(data, "element_spec") and hasattr(data, "_inputs") and hasattr(data, "_variant_tensor")


def pipeline_of(dataset: Any) -> Pipeline:
    """Read the stages of a dataset.

    Raises
    ------
    TfprofError
        If a stage that nothing can copy stands above one with state.
    """
    stages: list[Stage] = []
    at = dataset
    while (made := _stage(at)) is not None:
        stages.append(made)
        at = _below(at, made)
    return Pipeline(dataset, at, _source(at), stages[::-1])


def with_size(stage: Stage, size: int) -> Stage:
    """Return a shuffle with a buffer of another size, under the name that it has."""
    return replace(stage, build=shuffled(size).build, size=size) if stage.kind == "shuffle" else stage


def with_small_buffer(stage: Stage) -> Stage:
    """Return a shuffle with a small buffer, for runs that are not timed."""
    return with_size(stage, min(stage.size, SMALL_BUFFER))


def shuffled(size: int) -> Stage:
    """Return a shuffle. Its seed does not change what it costs."""
    return Stage("shuffle", [str(size)], lambda ds: ds.shuffle(size, seed=SEED), size=size)


def mapped(function: Function, calls: int | None, deterministic: bool | None = None, *, again: bool = False) -> Stage:
    """Return a map; with ``again`` of the function as the user wrote it, for arguments of another shape."""
    called = function.written if again else function
    options = {} if calls is None else {"num_parallel_calls": calls, "deterministic": deterministic}
    return Stage(
        "map",
        _arguments(num_parallel_calls=calls, deterministic=deterministic),
        lambda ds: ds.map(called, **options),
        function,
        parallel=calls is not None,
    )


def interleaved(ds: Any, calls: int | None, deterministic: bool | None = None) -> Stage:
    """Return an interleave like the user's, which opens ``calls`` inputs at once."""
    function, cycle, block = Function(ds._map_func), _int(ds._cycle_length), _int(ds._block_length)  # noqa: SLF001
    options = {} if calls is None else {"num_parallel_calls": calls, "deterministic": deterministic}
    return Stage(
        "interleave",
        _arguments(
            cycle_length=None if cycle == -1 else cycle,
            block_length=None if block == 1 else block,
            num_parallel_calls=calls,
            deterministic=deterministic,
        ),
        lambda below: below.interleave(function, cycle, block, **options),
        function,
        None,
        parallel=calls is not None,
        of=ds,
    )


def prefetched(size: int) -> Stage:
    """Return a prefetch."""
    return Stage("prefetch", [_autotuned(size)], lambda ds: ds.prefetch(size), size=size)


def _stage(dataset: Any) -> Stage | None:
    """Describe the last stage of a dataset; None for a source, and for what nobody here knows."""
    dataset = _unwrapped(dataset)
    make = _STAGES.get(type(dataset).__name__)
    return None if make is None or _is_generator(dataset) else make(dataset)


def _below(dataset: Any, stage: Stage) -> Any:
    """Return the input of a stage. ``unbatch`` puts two stages of its own below itself."""
    below = inputs_of(dataset)[0]
    return inputs_of(inputs_of(below)[0])[0] if stage.kind == "unbatch" else below


def _source(dataset: Any) -> Stage:
    name = _source_name(dataset)
    copied = _copied(dataset)
    return Stage("source", [name], lambda _: copied, per_element=None)


def _source_name(dataset: Any) -> str:
    dataset = _unwrapped(dataset)
    if _is_generator(dataset):
        return f"from_generator({getattr(_generator_of(dataset), '__name__', '...')})"
    kind = type(dataset).__name__.strip("_").removesuffix("V2")
    return _SOURCES.get(kind, kind)


def _copied(dataset: Any) -> Any:
    """Return the dataset itself if it has no state, else a copy."""
    if not any(_has_state(each) for each in _all_of(dataset)):
        return dataset
    inner, tf = _unwrapped(dataset), tensorflow()
    kind = type(inner).__name__
    if kind == "_ZipDataset":
        return tf.data.Dataset.zip(tf.nest.map_structure(_copied_pipeline, inner._datasets))  # noqa: SLF001
    if kind == "_ConcatenateDataset":
        first, second = (_copied_pipeline(each) for each in inner._inputs())  # noqa: SLF001
        return first.concatenate(second)
    if kind == "_DirectedInterleaveDataset":  # of sample_from_datasets and choose_from_datasets
        selector, *inputs = (_copied_pipeline(each) for each in inner._inputs())  # noqa: SLF001
        return type(inner)(selector, inputs, inner._stop_on_empty_dataset)  # noqa: SLF001
    if kind == "_RandomDataset" and not inputs_of(inner):
        return tf.data.Dataset.random(seed=SEED)
    raise TfprofError(
        f"The pipeline has a stage that can't be copied ({kind.strip('_')}) above one that keeps state "
        "(a shuffle or a cache), and your own dataset is never iterated. Measure the part without it."
    )


def _copied_pipeline(dataset: Any) -> Any:
    return pipeline_of(dataset).build()


def _unwrapped(dataset: Any) -> Any:
    """Return the dataset inside of wrappers that TensorFlow puts around it."""
    while type(dataset).__name__ == "DatasetV1Adapter":
        dataset = dataset._dataset  # noqa: SLF001
    return dataset


def inputs_of(dataset: Any) -> list[Any]:
    """Return the datasets that a dataset reads."""
    return list(_unwrapped(dataset)._inputs())  # noqa: SLF001


def _all_of(dataset: Any) -> Iterator[Any]:
    yield _unwrapped(dataset)
    for each in inputs_of(dataset):
        yield from _all_of(each)


def _has_state(dataset: Any) -> bool:
    return type(dataset).__name__.strip("_").startswith(_STATEFUL)


def _is_generator(dataset: Any) -> bool:
    """Whether it is what ``from_generator`` makes: a flat map over one element."""
    module = "tensorflow.python.data.ops.from_generator_op"
    written = getattr(getattr(dataset, "_map_func", None), "_func", None)
    return type(dataset).__name__ == "_FlatMapDataset" and getattr(written, "__module__", "") == module


def _generator_of(dataset: Any) -> Any:
    """Return the user's function, which TensorFlow keeps in a closure's closure; None if it is elsewhere."""
    return next(_generators_in(dataset._map_func._func, set()), None)  # noqa: SLF001


def _generators_in(function: Any, seen: set[int]) -> Iterator[Any]:
    seen.add(id(function))
    for cell in getattr(function, "__closure__", None) or ():
        held = cell.cell_contents
        if hasattr(held, "_generator"):
            yield held._generator  # noqa: SLF001
        elif callable(held) and id(held) not in seen:
            yield from _generators_in(held, seen)


def _int(tensor: Any) -> int:
    return int(tensor.numpy())


def _arguments(**given: Any) -> list[str]:
    written = {name: value for name, value in given.items() if value is not None}
    return [f"{name}={_autotuned(value) if name == 'num_parallel_calls' else value}" for name, value in written.items()]


def _autotuned(value: int) -> str:
    return "tf.data.AUTOTUNE" if value == -1 else str(value)


def _map(ds: Any) -> Stage:
    calls = getattr(ds, "_num_parallel_calls", None)
    if calls is not None:
        return mapped(Function(ds._map_func), _int(calls), _DETERMINISTIC[ds._deterministic])  # noqa: SLF001
    return mapped(Function(ds._map_func), None)  # noqa: SLF001


def _interleave(ds: Any) -> Stage:
    calls = getattr(ds, "_num_parallel_calls", None)
    if calls is not None:
        return interleaved(ds, _int(calls), _DETERMINISTIC[ds._deterministic])  # noqa: SLF001
    return interleaved(ds, None)


def in_parallel(stage: Stage) -> Stage:
    """Return a map or interleave that works on several elements at once, in the same order."""
    if stage.kind == "map" and stage.function and not stage.parallel:
        return mapped(stage.function, -1)
    if stage.kind == "interleave" and not stage.parallel:
        return interleaved(stage.of, -1)
    return stage


def _with_function(kind: str, name: str, per_element: float | None) -> Callable[[Any], Stage]:
    def make(ds: Any) -> Stage:
        function = Function(getattr(ds, name))
        return Stage(kind, [], lambda below: getattr(below, kind)(function), function, per_element)

    return make


def _batch(ds: Any) -> Stage:
    size, drop = _int(ds._batch_size), bool(ds._drop_remainder.numpy())  # noqa: SLF001
    calls = getattr(ds, "_num_parallel_calls", None)
    calls = None if calls is None else _int(calls)
    deterministic = _DETERMINISTIC[ds._deterministic] if calls is not None else None  # noqa: SLF001
    options = {} if calls is None else {"num_parallel_calls": calls, "deterministic": deterministic}
    given = _arguments(drop_remainder=drop or None, num_parallel_calls=calls, deterministic=deterministic)
    return Stage(
        "batch",
        [str(size), *given],
        lambda below: below.batch(size, drop, **options),
        per_element=size,
        size=size,
        parallel=calls is not None,
    )


def _padded_batch(ds: Any) -> Stage:
    size, drop = _int(ds._batch_size), bool(ds._drop_remainder.numpy())  # noqa: SLF001
    tf = tensorflow()
    shapes = tf.nest.map_structure(
        lambda shape: tf.TensorShape([None if n == -1 else n for n in shape.numpy().tolist()]),
        ds._padded_shapes,  # noqa: SLF001
    )
    values = ds._padding_values  # noqa: SLF001
    shown = [str(size), *_arguments(drop_remainder=drop or None)]
    lists = tf.nest.map_structure(lambda shape: f"{shape.as_list()}", shapes)
    fills = tf.nest.map_structure(lambda value: repr(value.numpy().item()), values)
    exactly = [*shown, f"padded_shapes={_unquoted(lists)}", f"padding_values={_unquoted(fills)}"]
    return Stage(
        "padded_batch",
        shown,
        lambda below: below.padded_batch(size, shapes, values, drop),
        per_element=size,
        size=size,
        exactly=exactly,
    )


def _unquoted(nested: Any) -> str:
    """Write nested code."""
    if isinstance(nested, dict):
        return "{" + ", ".join(f"{key!r}: {_unquoted(each)}" for key, each in nested.items()) + "}"
    if isinstance(nested, tuple):
        return f"({', '.join(map(_unquoted, nested))}{',' * (len(nested) == 1)})"
    return str(nested)


def _counted(kind: str, attribute: str = "_count") -> Callable[[Any], Stage]:
    def make(ds: Any) -> Stage:
        count = _int(getattr(ds, attribute))
        given = [] if kind == "repeat" and count == -1 else [str(count)]
        return Stage(kind, given, lambda below: getattr(below, kind)(count), size=count)

    return make


def _shard(ds: Any) -> Stage:
    shards, index = _int(ds._num_shards), _int(ds._index)  # noqa: SLF001
    return Stage("shard", [str(shards), str(index)], lambda below: below.shard(shards, index), per_element=shards)


def _window(ds: Any) -> Stage:
    size, shift, stride = (_int(getattr(ds, name)) for name in ("_size", "_shift", "_stride"))
    drop = bool(ds._drop_remainder.numpy())  # noqa: SLF001
    given = [str(size), f"shift={shift}", f"stride={stride}", f"drop_remainder={drop}"]
    return Stage("window", given, lambda below: below.window(size, shift, stride, drop), per_element=shift)


def _shuffle(ds: Any) -> Stage:
    made, seed = shuffled(_int(ds._buffer_size)), _int(ds._seed2)  # noqa: SLF001
    again = None if ds._reshuffle_each_iteration else False  # noqa: SLF001
    return replace(made, exactly=[*made.given, *_arguments(seed=seed or None, reshuffle_each_iteration=again)])


def _options(ds: Any) -> Stage:
    options = ds._options_attr  # noqa: SLF001
    return Stage("with_options", ["options"], lambda below: below.with_options(options))


def _group_by_window(ds: Any) -> Stage:
    key, reduce, size = (Function(made) for made in ds._functions())  # noqa: SLF001
    return Stage(
        "group_by_window",
        ["..."],
        lambda below: below.group_by_window(key, reduce, window_size_func=size),
        per_element=None,
    )


def _cache(ds: Any) -> Stage:
    file = ds._filename.numpy().decode()  # noqa: SLF001
    return Stage("cache", [repr(file)] if file else [], lambda below: below.cache())


_STAGES: dict[str, Callable[[Any], Stage]] = {
    "_MapDataset": _map,
    "_ParallelMapDataset": _map,
    "_InterleaveDataset": _interleave,
    "_ParallelInterleaveDataset": _interleave,
    "_FlatMapDataset": _with_function("flat_map", "_map_func", None),
    "_FilterDataset": _with_function("filter", "_predicate", None),
    "_TakeWhileDataset": _with_function("take_while", "_predicate", 1),
    "_BatchDataset": _batch,
    "_ParallelBatchDataset": _batch,
    "_PaddedBatchDataset": _padded_batch,
    "_GroupByWindowDataset": _group_by_window,
    "_UnbatchDataset": lambda _: Stage("unbatch", [], lambda below: below.unbatch(), per_element=None),
    "_ShuffleDataset": _shuffle,
    "_RepeatDataset": _counted("repeat"),
    "_TakeDataset": _counted("take"),
    "_SkipDataset": _counted("skip"),
    "_ShardDataset": _shard,
    "_WindowDataset": _window,
    "_PrefetchDataset": lambda ds: prefetched(_int(ds._buffer_size)),  # noqa: SLF001
    "_OptionsDataset": _options,
    "CacheDataset": _cache,
}
