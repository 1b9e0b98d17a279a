"""A short run before measuring: whether batches come at all, how long they take, and how many elements each needs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfprof_nb import _units
from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.benchmark_input.draws import Draws, Plan, drawn
from tfprof_nb.capture.benchmark_input.pipelines import Pipeline
from tfprof_nb.capture.benchmark_input.stages import Stage, with_small_buffer
from tfprof_nb.capture.tensorflow import tensorflow

_BATCHES, _LONGEST = 30, 200
_IN_GRAPH = "Graph execution error"
_IN_LAYER = re.compile(r"Exception encountered when calling .*\s+")  # before Keras' own reason
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_BEFORE = re.compile(r"\{\{.*?\}\} *|Error in user-defined function passed to \S+ transformation with iterator: \S+: ")


@dataclass(frozen=True)
class Trial:
    """What a trial told.

    Attributes
    ----------
    batch_s
        Seconds per batch, roughly.
    per_batch
        For the source and each stage, how many of its elements a batch takes.
    draws
        What was drawn.
    """

    batch_s: float
    per_batch: Sequence[float]
    draws: Draws


def tried(pipeline: Pipeline, seconds: float) -> Trial:
    """Draw a few batches of a copy with small shuffle buffers, no caches and no prefetch.

    Raises
    ------
    TfprofError
        If no batch comes.
    """
    counts: dict[int, Any] = {}
    made = pipeline.source.build(None)
    for k, stage in enumerate(pipeline.stages):
        if stage.per_element is None:
            counts[k] = tensorflow().Variable(0, dtype="int64", trainable=False)
            made = made.map(_counting(counts[k]))
        if stage.kind not in ("cache", "prefetch"):
            made = with_small_buffer(stage).build(made)
    draws = drawn(lambda: iter(made), Plan(seconds, batches=_BATCHES))
    if not draws.drawn:
        raise TfprofError(why_none(draws))
    counted = {k: int(count.numpy()) / draws.drawn for k, count in counts.items()}
    return Trial(draws.batch_s, _per_batch(pipeline.stages, counted), draws)


def why_none(draws: Draws) -> str:
    """Say why a pipeline gave no batch."""
    if draws.error:
        return f"The pipeline fails before its first batch: {told(draws.error)}."
    if draws.given_up:
        return "The pipeline gave no batch in the time to measure. Give more with seconds=."
    return "The dataset is empty: it ends before its first batch. A generator that was used up before gives nothing."


def told(error: BaseException) -> str:
    """Return an error's type and the first line of its message, without what TensorFlow puts before it."""
    message = _BEFORE.sub("", _COLOUR.sub("", str(getattr(error, "message", None) or error)).strip())
    message = _IN_LAYER.sub("", message, count=1)
    if message.startswith(_IN_GRAPH):  # then comes where the op was made
        message = message.rpartition("\n\n")[2]
    lines = message.strip().splitlines()
    return f"{type(error).__name__}: {_units.shorten(lines[0], _LONGEST).rstrip('. ') if lines else 'no message'}"


def _counting(count: Any) -> Any:
    def counted(*element: Any) -> Any:
        count.assign_add(1)
        return element if len(element) > 1 else element[0]

    return counted


def _per_batch(stages: Sequence[Stage], counted: dict[int, float]) -> list[float]:
    """Return how many elements of the source and of each stage one batch takes."""
    numbers = [1.0]
    for k, stage in reversed(list(enumerate(stages))):
        below = counted.get(k) or numbers[-1] * (stage.per_element or 1.0)
        numbers.append(below)
    return numbers[::-1]
