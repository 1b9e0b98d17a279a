"""What an event caused, and what caused it, across threads and devices."""

from functools import cached_property

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.links import forward, forward_links
from tfprof_nb.analysis.tf_data.iterators import CONSUMED, PRODUCED, element_events

# The runtime of each context type in `context_types.h` (tsl).
_CONTEXTS = {
    2: "TensorFlow executor",
    3: "TFRT executor",
    4: "batch scheduler",
    5: "PjRt",
    6: "batch scheduler",
    7: "TFRT TPU runtime",
    8: "TPU embedding",
    9: "GPU launch",
    10: "batcher",
    11: "TPU stream",
    12: "TPU launch",
    13: "Pathways executor",
    14: "PjRt library call",
    16: "JAX serving",
    17: "SparseCore offload",
}


class Flows:
    """The links of one host's events, computed on first use.

    These are the links along which steps spread (producer and consumer contexts, iterators, kernel launches), and those
    from the producer of an element of tf.data to its consumer. No cause begins after its effect. Events are given by
    their positions in the host.
    """

    def __init__(self, forest: Forest) -> None:
        self._forest = forest

    def causes(self, event: int) -> Int64:
        """Return the events that led to an event."""
        return _partners(self._by_effect, event)

    def effects(self, event: int) -> Int64:
        """Return the events that an event led to."""
        return _partners(self._by_cause, event)

    def kind(self, effect: int) -> str:
        """Return the kind of link from its causes to an event."""
        if self._forest.on_device[effect]:
            return "launch"
        if str(self._forest.host.names[self._forest.host.metadata[effect]]).endswith(CONSUMED):
            return "tf.data element"
        context = int(self._forest.host.ints("_ct").at(np.array([effect]))[0])
        return _CONTEXTS.get(context, "context" if context >= 0 else "iterator")

    @cached_property
    def _links(self) -> tuple[Int64, Int64]:
        elements = forward(self._forest, _element_links(self._forest))
        pairs = self._forest.once(forward_links), elements
        causes, effects = (np.concatenate(events).astype(np.int64) for events in zip(*pairs, strict=True))
        return causes, effects

    @cached_property
    def _by_cause(self) -> tuple[Int64, Int64]:
        causes, effects = self._links
        return _sorted(causes, effects)

    @cached_property
    def _by_effect(self) -> tuple[Int64, Int64]:
        causes, effects = self._links
        return _sorted(effects, causes)


def _element_links(forest: Forest) -> tuple[Int64, Int64]:
    """Link producers of elements of tf.data (`PrefetchProduce` ...) to their consumers, by the element's id."""
    produced, consumed = (_elements(forest, suffix) for suffix in (PRODUCED, CONSUMED))
    pairs = consumed.merge(produced.drop_duplicates("element", keep="last"), on="element", suffixes=("", "_before"))
    return pairs["event_before"].to_numpy(np.int64), pairs["event"].to_numpy(np.int64)


def _elements(forest: Forest, suffix: str) -> pd.DataFrame:
    event, element = element_events(forest, suffix)
    return pd.DataFrame({"event": event, "element": element})


def _sorted(keys: Int64, values: Int64) -> tuple[Int64, Int64]:
    order = np.lexsort((values, keys))
    return keys[order], values[order]


def _partners(pairs: tuple[Int64, Int64], event: int) -> Int64:
    """Return the values that belong to the key ``event``; pairs are sorted by key."""
    keys, values = pairs
    return np.unique(values[np.searchsorted(keys, event, "left") : np.searchsorted(keys, event, "right")])
