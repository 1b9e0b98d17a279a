"""A tf.data pipeline as stages above a source, and copies of it that share no state with it.

A dataset has state: a shuffle counts its iterators, a cache keeps elements. So nothing here iterates the user's
dataset: each stage is made again, with the function that was traced for it. Only stages without state are shared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.benchmark_input.dataset_kinds import (
    all_of,
    generator_of,
    has_state,
    inputs_of,
    is_generator,
    source_name,
    stage_of,
    unwrapped,
)
from tfprof_nb.capture.benchmark_input.stages import SEED, Function, Stage
from tfprof_nb.capture.tensorflow import tensorflow


@dataclass(frozen=True)
class Pipeline:
    """A pipeline as a source and the stages above it; ``dataset`` is the user's."""

    dataset: Any
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
        return [Function(each) for dataset in all_of(self.dataset) for each in dataset._functions()]  # noqa: SLF001

    @property
    def is_random(self) -> bool:
        """Whether random ops make its elements."""
        return any(function.is_random for function in self.functions)

    @property
    def generator(self) -> str:
        """The name of the Python function that makes the elements of the source; empty if there is none."""
        made = [dataset for dataset in all_of(self.dataset) if is_generator(dataset)]
        return getattr(generator_of(made[0]), "__name__", "its generator") if made else ""


def is_dataset(data: Any) -> bool:
    """Whether it is a tf.data dataset of one process, without importing TensorFlow to ask."""
    kind = type(data)  # of an object, asking may run any code: lazy modules import something
    return all(hasattr(kind, name) for name in ("element_spec", "_inputs", "_variant_tensor"))


def pipeline_of(dataset: Any) -> Pipeline:
    """Read the stages of a dataset.

    Raises
    ------
    TfprofError
        If a stage that nothing can copy stands above one with state.
    """
    stages: list[Stage] = []
    at = dataset
    while (made := stage_of(at)) is not None:
        stages.append(made)
        at = _below(at, made)
    return Pipeline(dataset, _source(at), stages[::-1])


def _below(dataset: Any, stage: Stage) -> Any:
    """Return the input of a stage. ``unbatch`` puts two stages of its own below itself."""
    below = inputs_of(dataset)[0]
    return inputs_of(inputs_of(below)[0])[0] if stage.kind == "unbatch" else below


def _source(dataset: Any) -> Stage:
    name = source_name(dataset)
    copied = _copied(dataset)
    return Stage("source", [name], lambda _: copied, per_element=None)


def _copied(dataset: Any) -> Any:
    """Return the dataset itself if it has no state, else a copy."""
    if not any(has_state(each) for each in all_of(dataset)):
        return dataset
    inner, tf = unwrapped(dataset), tensorflow()
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
