"""``benchmark_step``: a training step on a batch in memory, as it is and changed."""

from functools import partial
from typing import Any

import pandas as pd

from tfprof_nb._errors import TfprofError
from tfprof_nb.analysis.benchmark_step import StepBenchmark, step_benchmark
from tfprof_nb.capture.benchmark_step.keras_copy import is_keras_model
from tfprof_nb.capture.benchmark_step.measure import MeasuredStep, measured_step
from tfprof_nb.render.content import Content
from tfprof_nb.render.progress import progress_bar, progress_line
from tfprof_nb.views import benchmark_step as view


def benchmark_step(model_or_function: Any, batch: Any, *, seconds: float = 20.0) -> StepBenchmark:
    """Measure a training step by itself, on a batch in memory: as it is, compiled, with larger batches.

    Parameters
    ----------
    model_or_function
        A compiled Keras model, or a function that does a step: a `tf.function` or a Python function. A function with
        several parameters gets the parts of the batch.
    batch
        What the step takes, such as ``(x, y)``: arrays or tensors whose first dimension is the batch's.
    seconds
        How long to measure, about. The variants take turns; at least one round is completed.

    Returns
    -------
    StepBenchmark
        ``table`` has a row per variant with ``step_ms``, its range, ``example_us`` and ``speedup``, which counts
        examples per second: the step as it is, with ``jit_compile`` the other way, a doubled and a quadrupled batch; of
        a model ``steps_per_execution``, and mixed precision where a GPU has fast 16-bit numbers; of a Python function
        `tf.function`. ``code`` is the best as code.

    Raises
    ------
    TfprofError
        If the step fails, the model is not compiled, or an argument is wrong.
    MissingDependencyError
        If TensorFlow is not installed.

    Notes
    -----
    A copy of the model and its optimizer is trained; a model that has no ``get_config`` is trained itself, and gets all
    back. A `tf.function` is traced anew, and all variables
    and random states are afterwards what they were. What else a Python function does, it does in each step. The
    memory of the copy, and of four times the batch, has to be free.

    Examples
    --------
    >>> import keras, numpy
    >>> import tfprof_nb as tp
    >>> model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> measured = tp.benchmark_step(model, (numpy.ones((8, 4)), numpy.ones((8, 1))), seconds=1)
    >>> measured.table["examples"].tolist()[-2:]
    [16, 32]
    """
    __tracebackhide__ = True
    _check(model_or_function, seconds)
    with progress_line() as show:
        run = measured_step(model_or_function, batch, seconds=seconds, say=partial(progress_bar, show))
    result = step_benchmark(pd.DataFrame(run.runs.runs), _variants(run), run.runs.seconds)
    whose = "Your model and its optimizer are" if is_keras_model(model_or_function) else "Variables are"
    result.notes += [*run.runs.notes, f"{whose} as before."]
    return result.shown_by(lambda: Content("Training step, measured", view.panels(result)))


def _check(thing: object, seconds: object) -> None:
    if not callable(thing):
        raise TfprofError(f"This is of type {type(thing).__name__}: give a Keras model or a function.")
    if not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):
        raise TfprofError(f"seconds={seconds!r}: give a number above 0.")


def _variants(run: MeasuredStep) -> pd.DataFrame:
    rows = [
        [step.name, step.examples, 1 / variant.scale, step.code]
        for step, variant in zip(run.steps, run.runs.variants, strict=True)
    ]
    return pd.DataFrame(rows, columns=["name", "examples", "per_run", "code"])
