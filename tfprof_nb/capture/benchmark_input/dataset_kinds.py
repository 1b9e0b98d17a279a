"""How each kind of dataset in tf.data is read into a stage, and where the elements below all stages come from."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tfprof_nb.capture.benchmark_input.stages import (
    Function,
    Stage,
    arguments,
    interleaved,
    mapped,
    prefetched,
    shuffled,
)
from tfprof_nb.capture.tensorflow import tensorflow

_DETERMINISTIC = {"default": None, "true": True, "false": False}
_STATEFUL = ("Shuffle", "Cache", "Snapshot", "Save", "Random")
_SOURCES = {
    "TensorSliceDataset": "from_tensor_slices",
    "TensorDataset": "from_tensors",
    "RangeDataset": "range",
    "ZipDataset": "zip",
    "ConcatenateDataset": "concatenate",
    "DirectedInterleaveDataset": "sample_from_datasets",
}


def stage_of(dataset: Any) -> Stage | None:
    """Describe the last stage of a dataset; None for a source, and for what nobody here knows."""
    dataset = unwrapped(dataset)
    make = _STAGES.get(type(dataset).__name__)
    return None if make is None or is_generator(dataset) else make(dataset)


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
    given = arguments(drop_remainder=drop or None, num_parallel_calls=calls, deterministic=deterministic)
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
    shown = [str(size), *arguments(drop_remainder=drop or None)]
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
    return replace(made, exactly=[*made.given, *arguments(seed=seed or None, reshuffle_each_iteration=again)])


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


def _int(tensor: Any) -> int:
    return int(tensor.numpy())


def inputs_of(dataset: Any) -> list[Any]:
    """Return the datasets that a dataset reads."""
    return list(unwrapped(dataset)._inputs())  # noqa: SLF001


def all_of(dataset: Any) -> Iterator[Any]:
    """Yield a dataset and all below it."""
    yield unwrapped(dataset)
    for each in inputs_of(dataset):
        yield from all_of(each)


def unwrapped(dataset: Any) -> Any:
    """Return the dataset inside of wrappers that TensorFlow puts around it."""
    while type(dataset).__name__ == "DatasetV1Adapter":
        dataset = dataset._dataset  # noqa: SLF001
    return dataset


def has_state(dataset: Any) -> bool:
    """Whether iterating a dataset changes it."""
    return type(dataset).__name__.strip("_").startswith(_STATEFUL)


def source_name(dataset: Any) -> str:
    """Return the name of a source as users know it, such as ``range``."""
    dataset = unwrapped(dataset)
    if is_generator(dataset):
        return f"from_generator({getattr(generator_of(dataset), '__name__', '...')})"
    kind = type(dataset).__name__.strip("_").removesuffix("V2")
    return _SOURCES.get(kind, kind)


def is_generator(dataset: Any) -> bool:
    """Whether it is what ``from_generator`` makes: a flat map over one element."""
    module = "tensorflow.python.data.ops.from_generator_op"
    written = getattr(getattr(dataset, "_map_func", None), "_func", None)
    return type(dataset).__name__ == "_FlatMapDataset" and getattr(written, "__module__", "") == module


def generator_of(dataset: Any) -> Any:
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
