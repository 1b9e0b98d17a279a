"""What the events of an op are called in the trace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.op_labels import label_all_ops
from tfprof_nb.analysis.trace.layout import MADE, Layout

# The runtime puts the node that called a function before the names of the function's nodes.
_CALLERS = re.compile(r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+")


class EventNames:
    """Finds the events of an op: they are called as the op, as the op with its type, or as its kernels are."""

    def __init__(self, forests: Sequence[Forest], layout: Layout) -> None:
        self._forests, self._layout = forests, layout
        self._names = set(layout.names.tolist())
        by_op = {name.rpartition(":")[0]: name for name in layout.names.tolist()}
        self._by_op: dict[str, str] = {_CALLERS.sub("", op): name for op, name in by_op.items()} | by_op

    def of_op(self, op: str) -> str:
        """Return the name of an op's events, of several the one that most have; the op's own where it has none.

        An op may also be named as in its own function.
        """
        if op in self._names:
            return op
        if op in self._by_op:
            return self._by_op[op]
        codes = np.concatenate([np.zeros(0, dtype=np.int64), *self._kernels(op)])
        return str(self._layout.names[np.bincount(codes).argmax()]) if len(codes) else op

    def _kernels(self, op: str) -> Iterator[Int64]:
        """For each host, the name codes of the events that belong to the op by what is noted on them."""
        layout = self._layout
        recorded = ~layout.tracks["kind"].isin(MADE).to_numpy()[np.repeat(layout.lane_track, np.diff(layout.bounds))]
        for index, forest in enumerate(self._forests):
            labels = forest.once(label_all_ops)
            wanted = np.append(labels.op_name == op, False)[labels.code]  # -1, no op, takes the last
            mine = recorded & (layout.host_index == index)
            yield layout.name[mine][wanted[layout.row[mine]]].astype(np.int64)
