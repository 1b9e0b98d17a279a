"""How long a program computes between two batches, by tf.data's own count: also where fetching is part of a graph."""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from tfprof_nb._arrays import Floats
from tfprof_nb.capture.patching import hooked

_ROOT = "Root"  # the end of a pipeline, in the model that autotuning keeps of it


class Gaps(NamedTuple):
    """How many batches were fetched since the last look, and the times from one to the call for the next."""

    batches: int
    seconds: Floats

    def of_a_step(self, steps: int) -> float:
        """Return the time of a typical step that it did not wait: a call of several steps fetches several batches."""
        per_step = min(max(1, round(self.batches / max(steps, 1))), len(self.seconds))
        whole = self.seconds[-(len(self.seconds) // per_step * per_step) :]
        return float(np.median(whole.reshape(-1, per_step).sum(axis=1)))


class PipelineGaps:
    """Looks at the iterators that were made while `watched_pipelines` was on."""

    def __init__(self) -> None:
        self._seen: dict[weakref.ref[Any], int] = {}

    def add(self, iterator: Any) -> None:
        """Look at this iterator, too, as long as it is there."""
        self._seen[weakref.ref(iterator)] = 0

    def newest(self) -> Gaps | None:
        """Return the gaps of the iterator that gave most batches since the last call; None if none is known."""
        found = []
        for reference, before in list(self._seen.items()):
            iterator = reference()
            if iterator is None:
                self._seen.pop(reference, None)
                continue
            try:
                batches, gaps = _model(iterator)
            except Exception:  # noqa: BLE001  (it may be gone by now; the user's program must go on)
                self._seen.pop(reference, None)
                continue
            self._seen[reference] = batches
            if new := gaps[-(batches - before) :] if batches > before else []:
                found.append(Gaps(batches - before, np.array(new) / 1e6))
        return max(found, key=lambda gaps: gaps.batches, default=None)


def _model(iterator: Any) -> tuple[int, list[int]]:
    """Return how many batches an iterator gave, and its latest gaps in microseconds."""
    from tensorflow.core.framework.model_pb2 import ModelProto
    from tensorflow.python.ops import gen_experimental_dataset_ops as ops

    model = ModelProto.FromString(ops.iterator_get_model_proto(iterator._iterator_resource).numpy())  # noqa: SLF001
    batches = max((node.num_elements for node in model.nodes.values() if node.name == _ROOT), default=0)
    return batches, list(model.gap_times)


@contextmanager
def watched_pipelines() -> Iterator[PipelineGaps]:
    """Note the iterators that are made while the block runs."""
    from tensorflow.python.data.ops.iterator_ops import OwnedIterator

    gaps = PipelineGaps()
    with hooked(OwnedIterator, "_create_iterator", after=lambda iterator, *_, **__: gaps.add(iterator)):
        yield gaps
