"""``benchmark_input``: an input pipeline by itself, what each stage adds, and what changes gain."""

import math
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from tfprof_nb._errors import TfprofError
from tfprof_nb.analysis.benchmark_input import InputBenchmark, input_benchmark
from tfprof_nb.capture.benchmark_input.code import written
from tfprof_nb.capture.benchmark_input.measure import Measured, Say, measured
from tfprof_nb.capture.benchmark_input.pipelines import is_dataset, pipeline_of
from tfprof_nb.capture.benchmark_input.python_inputs import (
    dataset_of_arrays,
    is_py_dataset,
    measured_generator,
    measured_py_dataset,
)
from tfprof_nb.profiles import Profile
from tfprof_nb.render.content import Content
from tfprof_nb.render.progress import progress_bar, progress_line
from tfprof_nb.views import benchmark_input as view


def benchmark_input(
    dataset: Any, *, batches: int | None = None, seconds: float = 20.0, profile: Profile | None = None
) -> InputBenchmark:
    """Measure an input pipeline by itself: what each stage adds to a batch, and what changes of it gain.

    Parameters
    ----------
    dataset
        What ``fit`` takes: a `tf.data.Dataset`, a `keras.utils.PyDataset`, a generator, or arrays ``(x, y)``. Of a
        generator the batches that are measured are gone afterwards; a warning says so first.
    batches
        At most so many batches are counted in each run; None counts what the time allows.
    seconds
        How long to measure, about. Stages and what-ifs take turns; at least one round is completed.
    profile
        A profile of the program that takes the batches: the time that its steps need without their input is what the
        pipeline is compared with.

    Returns
    -------
    InputBenchmark
        ``table`` has a row per stage, what-if and bound, with ``batch_ms`` and its range; ``summary["bottleneck"]``
        names the stage that adds most, ``summary["best"]`` the fastest what-if whose elements were found to be those
        of the pipeline, and ``code`` is that as code.

    Raises
    ------
    TfprofError
        If the dataset gives no batch, or an argument is wrong.
    MissingDependencyError
        If TensorFlow is not installed.

    Notes
    -----
    Nothing iterates the dataset itself: stages are made again with the functions that were traced for them, so that
    shuffles, caches, random states and variables stay as they are, and no file is written. A Python function of the
    pipeline, and a generator's function, runs again, with what else it does. The first batches of a run are not
    counted, nor is the first batch of a pass. Caches are measured filled, with a part of the data. An interrupt ends
    measuring, and what was measured is returned.

    Examples
    --------
    >>> import tensorflow as tf
    >>> import tfprof_nb as tp
    >>> def decode(i):
    ...     return tf.reduce_sum(tf.random.stateless_normal((400, 400), (i, i))), i
    >>> dataset = tf.data.Dataset.range(500).map(decode).batch(10)
    >>> tp.benchmark_input(dataset, seconds=2).summary["bottleneck"]
    'map(decode)'
    """
    __tracebackhide__ = True
    _check(batches, seconds, profile)
    step_ms = _step_ms(profile)
    names = _names_of_caller(sys._getframe(1))  # noqa: SLF001 - the names that the code may use
    warned = _warning(dataset)
    if warned:
        warnings.warn(warned, stacklevel=2)
    with progress_line() as show:
        run = _measured(dataset, batches=batches, seconds=seconds, step_ms=step_ms, say=partial(progress_bar, show))
    needs = float("nan") if step_ms is None else step_ms
    result = input_benchmark(pd.DataFrame(run.runs), _variants(run), run.batches_per_pass, needs, run.seconds)
    result.summary["code"] = _code(run, result, dataset, names)
    result.notes += [*run.notes, *_closing_notes(run, result)]
    return result.shown_by(lambda: Content("Input pipeline, measured", view.panels(result)))


def _measured(dataset: Any, *, batches: int | None, seconds: float, step_ms: float | None, say: Say) -> Measured:
    """Measure what ``fit`` takes: datasets, PyDatasets, generators, arrays."""
    if is_dataset(dataset):
        return measured(dataset, batches=batches, seconds=seconds, step_ms=step_ms, say=say)
    if is_py_dataset(dataset):
        return measured_py_dataset(dataset, batches=batches, seconds=seconds, step_ms=step_ms, say=say)
    if isinstance(dataset, Iterator):
        return measured_generator(dataset, batches=batches, seconds=seconds, say=say)
    if isinstance(dataset, tuple) or hasattr(dataset, "__array__"):
        run = measured(dataset_of_arrays(dataset), batches=batches, seconds=seconds, step_ms=step_ms, say=say)
        run.notes.append("Measured is the pipeline that fit makes of arrays: batches of 32, shuffled.")
        return run
    raise TfprofError(
        f"This is of type {type(dataset).__name__}: give what fit takes, a tf.data.Dataset, a keras.utils.PyDataset, "
        "a generator, or arrays."
    )


def _warning(dataset: Any) -> str:
    """Say, before it starts, what measuring uses up; empty if nothing is known."""
    if isinstance(dataset, Iterator):
        return "The batches that are measured are taken from the generator, and are gone afterwards."
    if is_dataset(dataset) and (generator := pipeline_of(dataset).generator):
        return (
            f"{generator} is called anew for each run: what it reads from elsewhere is used up, what it writes is "
            "written again."
        )
    return ""


def _check(batches: object, seconds: object, profile: object) -> None:
    if batches is not None and (not isinstance(batches, int) or batches < 1):
        raise TfprofError(f"batches={batches!r}: give a whole number from 1 on, or None.")
    if not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):
        raise TfprofError(f"seconds={seconds!r}: give a number above 0.")
    if profile is not None and not isinstance(profile, Profile):
        raise TfprofError(f"profile= takes a Profile; this is of type {type(profile).__name__}. Open one with load.")


def _step_ms(profile: Profile | None) -> float | None:
    """Return the median time of a profile's steps without the wait for their data; None if it has no steps."""
    if profile is None:
        return None
    steps = profile.steps.measured
    if steps.empty:
        raise TfprofError(f"The profile {profile.name} has no steps, so nothing tells what a step needs.")
    return float((steps["step_ms"] - steps["input_ms"]).median())


def _names_of_caller(frame: Any) -> Mapping[str, Any]:
    return {**frame.f_globals, **frame.f_locals}


def _variants(run: Measured) -> pd.DataFrame:
    columns = ["kind", "name", "compared", "first_pass", "fills"]
    return pd.DataFrame([[getattr(each, column) for column in columns] for each in run.variants], columns=columns)


def _code(run: Measured, result: InputBenchmark, dataset: Any, names: Mapping[str, Any]) -> str:
    """Write the best what-if as code."""
    best = next((each for each in run.variants if each.name == result.summary["best"]), None)
    if best is None:
        return ""
    if best.change is None:
        name = next((name for name, each in names.items() if each is dataset), "dataset")
        return f"{name}.workers = {best.name.split()[0]}"
    return written(run.pipeline, best.change, names) if run.pipeline and run.pipeline.dataset is dataset else ""


def _closing_notes(run: Measured, result: InputBenchmark) -> list[str]:
    notes = []
    if "prefetch at the end" in set(result.table["name"]) and math.isnan(result.summary["step_ms"]):
        notes.append(
            "Prefetch makes batches while a step runs: what it gains shows beside a step, with profile=, and not in "
            "the time per batch."
        )
    if run.pipeline is not None:
        notes.append("Copies were measured: your dataset was not iterated.")
    python = [function.name for function in run.pipeline.functions if function.is_python] if run.pipeline else []
    if python:
        notes.append(f"Python ran again, with what else it does: {', '.join(f'`{name}`' for name in python)}.")
    return notes
