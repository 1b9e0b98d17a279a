"""What ``fit`` takes beside datasets: a Keras ``PyDataset``, a generator, arrays; and which of it variables hold."""

import itertools
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.benchmark_input.copies import difference, first_batches
from tfprof_nb.capture.benchmark_input.measure import AS_IT_IS, REPEATED, Measured, Say, Variant, take_turns
from tfprof_nb.capture.benchmark_input.pipelines import is_dataset
from tfprof_nb.capture.benchmark_input.trial import told
from tfprof_nb.capture.benchmark_input.untouched import untouched

_FEWEST_WORKERS, _MOST_WORKERS = 2, 8


def is_py_dataset(data: Any) -> bool:
    """Whether it makes a batch for an index, as Keras' ``PyDataset`` does."""
    return any(kind.__name__ in ("PyDataset", "Sequence") and "keras" in kind.__module__ for kind in type(data).__mro__)


def measured_py_dataset(
    data: Any, *, batches: int | None, seconds: float, step_ms: float | None = None, say: Say = lambda _t, _s: None
) -> Measured:
    """Measure a ``PyDataset`` with the workers that it has, and with more.

    Raises
    ------
    TfprofError
        If it gives no batch.
    """
    begun = time.perf_counter()
    with untouched([]):
        say("trying the dataset", 0.0)
        try:
            first = first_batches(_with_workers(data, 1)())
        except Exception as error:
            raise TfprofError(f"The dataset fails before its first batches: {told(error)}.") from error
        if not first:
            raise TfprofError("The dataset is empty: it has no batch.")
        result = Measured([Variant("whole", f"{type(data).__name__}.__getitem__", _with_workers(data, data.workers))])
        repeats = not difference(first, first_batches(_with_workers(data, 1)()))
        if data.use_multiprocessing:
            result.notes.append("Its workers are processes; threads were measured in their place.")
        for workers in (max(_FEWEST_WORKERS, 2 * data.workers), max(_MOST_WORKERS, os.cpu_count() or 1)):
            make, name = _with_workers(data, workers), f"{workers} workers"
            if repeats and (why := difference(first, first_batches(make()))):
                result.notes.append(f"{name} are left out: {why}.")
                continue
            result.variants.append(Variant("what-if", name, make, compared="equal" if repeats else "random"))
        batch = data[0]
        result.variants.append(Variant("bound", REPEATED, lambda: itertools.repeat(batch)))
        if step_ms is not None:
            result.variants.append(Variant("waiting", AS_IT_IS, result.variants[0].make, step=step_ms / 1e3))
        result.batches_per_pass = float("nan") if data.num_batches is None else float(data.num_batches)
        take_turns(result, batches, seconds, begun, say)
    result.seconds = time.perf_counter() - begun
    return result


def measured_generator(data: Iterator[Any], *, batches: int | None, seconds: float, say: Say) -> Measured:
    """Measure a generator as it is, once: what is drawn is gone.

    Raises
    ------
    TfprofError
        If it gives no batch.
    """
    begun = time.perf_counter()
    name = getattr(data, "__name__", type(data).__name__)
    result = Measured([Variant("whole", name, lambda: data)])
    take_turns(result, batches, seconds, begun, say, rounds=1)
    if not result.runs:
        raise TfprofError("The generator gives no batch: it is empty, or used up.")
    drawn = sum(run["batches"] for run in result.runs)
    used = f"the {drawn} batches that were counted, and those before them" if drawn else "its first batches"
    result.notes.append(f"The generator is used up by {used}.")
    if not drawn:
        result.notes.insert(
            0, "The time is that of the first batch alone: the generator ended while it warmed up. Give a longer one."
        )
    result.seconds = time.perf_counter() - begun
    return result


def dataset_of_arrays(arrays: Any) -> Any:
    """Return the dataset that ``fit`` makes of arrays, with its defaults.

    Raises
    ------
    TfprofError
        If Keras can't make one.
    """
    from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter

    given = arrays if isinstance(arrays, tuple) else (arrays,)
    try:
        return ArrayDataAdapter(*given, batch_size=32, shuffle=True).get_tf_dataset()
    except (ValueError, TypeError) as error:
        raise TfprofError(f"Keras makes no dataset of this {type(arrays).__name__}: {told(error)}.") from error


def _with_workers(data: Any, workers: int) -> Callable[[], Iterator[Any]]:
    """Return what makes iterators over the batches, in order, with so many threads that run ahead."""
    return lambda: _threads(data, workers) if workers > 1 else _plain(data)


def _indices(data: Any) -> Iterator[int]:
    return itertools.count() if data.num_batches is None else iter(range(data.num_batches))


def _plain(data: Any) -> Iterator[Any]:
    for index in _indices(data):
        yield data[index]


def _threads(data: Any, workers: int) -> Iterator[Any]:
    ahead, indices = deque[Future[Any]](), _indices(data)
    with ThreadPoolExecutor(workers) as pool:
        try:
            for index in itertools.islice(indices, max(workers, int(data.max_queue_size))):
                ahead.append(pool.submit(data.__getitem__, index))
            while ahead:
                yield ahead.popleft().result()
                for index in itertools.islice(indices, 1):
                    ahead.append(pool.submit(data.__getitem__, index))
        finally:
            for future in ahead:
                future.cancel()


def variables() -> Mapping[str, Any]:
    """Return the variables of the notebook; none outside of IPython."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    return {} if shell is None else shell.user_ns


def holds_dataset(expression: str) -> bool:
    """Whether an expression without calls is a dataset in the notebook."""
    if "tensorflow" not in sys.modules:
        return False
    try:
        value = eval(expression, dict(variables()))  # noqa: S307 - an expression of the user's own cell
    except Exception:  # noqa: BLE001 - whatever it is, it is no dataset
        return False
    return is_dataset(value) or is_py_dataset(value)


def called_in_notebook(call: str, **values: Any) -> Any:
    """Return the value of a call in the notebook's namespace, where these names are known besides."""
    return eval(call, dict(variables()), values)  # noqa: S307 - what the notebook shows as code
