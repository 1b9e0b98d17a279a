"""What an event caused, and what caused it, across threads and on to the devices."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.links import links
from tfprof_nb.analysis.tf_data.iterators import CONSUMED, PRODUCED, element_events

# What the context types of `context_types.h` (tsl) hand over.
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
    """The links of one host's events, found on first use.

    They are those that steps spread along (producer and consumer contexts, iterators, kernel launches), and tf.data's
    elements from the thread that produced them to the one that consumed them.
    """

    def __init__(self, forest: Forest) -> None:
        self._forest = forest

    def causes(self, row: int) -> Int64:
        """Return the rows that led to an event."""
        return _partners(self._by_effect, row)

    def effects(self, row: int) -> Int64:
        """Return the rows that an event led to."""
        return _partners(self._by_cause, row)

    def kind(self, effect: int) -> str:
        """Say how an event is linked to its causes."""
        if self._forest.on_device[effect]:
            return "launch"
        if str(self._forest.host.names[self._forest.host.metadata[effect]]).endswith(CONSUMED):
            return "tf.data element"
        context = int(self._forest.host.ints("_ct").at(np.array([effect]))[0])
        return _CONTEXTS.get(context, "context" if context >= 0 else "iterator")

    @cached_property
    def _links(self) -> tuple[Int64, Int64]:
        pairs = self._forest.once(links), _element_links(self._forest)
        causes, effects = (np.concatenate(rows).astype(np.int64) for rows in zip(*pairs, strict=True))
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
    """What produced an element of tf.data (`PrefetchProduce` ...) to what consumed it, by the element's id."""
    produced, consumed = (_elements(forest, suffix) for suffix in (PRODUCED, CONSUMED))
    pairs = consumed.merge(produced.drop_duplicates("element", keep="last"), on="element", suffixes=("", "_before"))
    return pairs["row_before"].to_numpy(np.int64), pairs["row"].to_numpy(np.int64)


def _elements(forest: Forest, suffix: str) -> pd.DataFrame:
    row, element = element_events(forest, suffix)
    return pd.DataFrame({"row": row, "element": element})


def _sorted(keys: Int64, values: Int64) -> tuple[Int64, Int64]:
    order = np.lexsort((values, keys))
    return keys[order], values[order]


def _partners(pairs: tuple[Int64, Int64], row: int) -> Int64:
    keys, values = pairs
    return np.unique(values[np.searchsorted(keys, row, "left") : np.searchsorted(keys, row, "right")])
