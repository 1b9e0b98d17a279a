"""Measure a step and its variants in turns, and leave what they change as it was."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.benchmark_input.measure import Measured, Say, Variant, take_turns
from tfprof_nb.capture.benchmark_input.trial import told
from tfprof_nb.capture.benchmark_input.untouched import untouched
from tfprof_nb.capture.benchmark_step.keras_copy import is_keras_model, to_train
from tfprof_nb.capture.benchmark_step.variants import Step, examples_of, function_steps, keras_steps, trace
from tfprof_nb.capture.profile_call import living_variables
from tfprof_nb.capture.tensorflow import tensorflow

_DRAW_S = 0.02  # so much work before the result is waited for, so that the host can run ahead of a device


@dataclass
class MeasuredStep:
    """The runs, and the variant of each number."""

    steps: list[Step] = field(default_factory=list)
    runs: Measured = field(default_factory=lambda: Measured([]))


def measured_step(thing: Any, batch: Any, *, seconds: float, say: Say = lambda _t, _s: None) -> MeasuredStep:
    """Measure a model or function on a batch for about so many seconds.

    Raises
    ------
    TfprofError
        If the step fails as it is, or the model can't be copied.
    """
    begun, result = time.perf_counter(), MeasuredStep()
    of_keras = is_keras_model(thing)
    batch = tuple(batch) if of_keras and isinstance(batch, list) else batch
    examples_of(batch)
    with untouched([]), _quiet(), _variants(thing, batch, result.runs.notes) as made:
        for step in made:
            say(f"trying: {step.name}", 0.0)
            try:
                seconds_each = _tried(step)
            except Exception as error:
                if not result.steps:
                    raise TfprofError(f"The step fails on this batch: {told(error)}.") from error
                result.runs.notes.append(f"`{step.name}` is left out: it fails with {told(error)}.")
                continue
            result.steps.append(step)
            calls = max(1, round(_DRAW_S / max(seconds_each, 1e-6)))
            kind = "whole" if len(result.steps) == 1 else "what-if"
            make = _executions(step.run, calls)
            result.runs.variants.append(Variant(kind, step.name, make, 1 / (calls * step.steps)))
        take_turns(result.runs, None, seconds, begun, say)
    if not result.runs.runs:
        raise TfprofError("The step could not be measured in the time given: give more with seconds=.")
    result.runs.seconds = time.perf_counter() - begun
    return result


def _tried(step: Step) -> float:
    """Run a step three times, and return the seconds of the last: the first traces and compiles."""
    for _ in range(3):
        at = time.perf_counter()
        _wait(step.run())
    return time.perf_counter() - at


def _executions(run: Callable[[], Any], calls: int) -> Callable[[], Iterator[None]]:
    def executions() -> Iterator[None]:
        while True:
            for _ in range(calls):
                outputs = run()
            _wait(outputs)
            yield

    return executions


def _wait(outputs: Any) -> None:
    """Wait until a step's results are there: devices work while Python runs on."""
    for each in tensorflow().nest.flatten(outputs):
        if hasattr(each, "numpy"):
            each.numpy()
            return


@contextmanager
def _variants(thing: Any, batch: Any, notes: list[str]) -> Iterator[Iterator[Step]]:
    """Give the variants of a model or function, and put back afterwards what they change."""
    if is_keras_model(thing):
        with to_train(thing, batch, notes) as copy:
            yield keras_steps(thing, copy, batch, notes)
    else:
        with _variables_kept(thing, batch):
            yield function_steps(thing, batch)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep TensorFlow from warning of functions that are traced often: each variant is one of its own."""
    logger = tensorflow().get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _variables_kept(function: Callable[..., Any], batch: Any) -> Iterator[None]:
    """Put back the values of all variables that there are: nothing tells which of them a function writes."""
    trace(function, batch)
    kept = _values()
    try:
        yield
    finally:
        for variable, value in kept:
            variable.assign(value)


def _values() -> list[tuple[Any, Any]]:
    return [(each, value) for each in living_variables() if (value := _value(each)) is not None]


def _value(variable: Any) -> Any:
    try:
        return tensorflow().identity(variable)
    except Exception:  # noqa: BLE001 - variables of graphs, and variables without a value
        return None
