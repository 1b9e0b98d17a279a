"""Where the elements of a dataset come from: the datasets that it reads, and the source below them all."""

from collections.abc import Iterator
from typing import Any

_STATEFUL = ("Shuffle", "Cache", "Snapshot", "Save", "Random")
_SOURCES = {
    "TensorSliceDataset": "from_tensor_slices",
    "TensorDataset": "from_tensors",
    "RangeDataset": "range",
    "ZipDataset": "zip",
    "ConcatenateDataset": "concatenate",
    "DirectedInterleaveDataset": "sample_from_datasets",
}


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
