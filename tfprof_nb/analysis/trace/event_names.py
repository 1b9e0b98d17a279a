"""Names of the trace's events: from an op to its events, and from an event to its line of code."""

from collections.abc import Iterator, Sequence

import numpy as np

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.analysis.events.op_labels import label_all_ops
from tfprof_nb.analysis.source.source import SourceLines
from tfprof_nb.analysis.tf_data.iterators import stage_of
from tfprof_nb.analysis.trace.layout import Layout
from tfprof_nb.formats.marks import CELL_LINE


class EventNames:
    """Looks up the events of an op: their name is the op's, the op's with its type, or that of its kernels."""

    def __init__(self, forests: Sequence[Forest], layout: Layout) -> None:
        self._forests, self._layout = forests, layout
        self._names = set(layout.names.tolist())
        by_op = {name.rpartition(":")[0]: name for name in layout.names.tolist()}
        self._stages = np.array([stage_of(name) for name in layout.names.tolist()], dtype=object)
        self._by_op: dict[str, str] = {without_calls(op): name for op, name in by_op.items()} | by_op

    def of_op(self, op: str) -> str:
        """Return the name of an op's events, of several the most frequent; the op's own name if it has no events.

        An op may also be given by its name in its own function.
        """
        if op in self._names:
            return op
        if op in self._by_op:
            return self._by_op[op]
        codes = np.concatenate([np.zeros(0, dtype=np.int64), *self._kernels(op)])
        return str(self._layout.names[np.bincount(codes).argmax()]) if len(codes) else op

    def codes_of(self, op: str) -> list[int]:
        """Return the codes of all names that events of an op, or of a stage's parallel branches, have."""
        return np.flatnonzero((self._layout.names == self.of_op(op)) | (self._stages == op)).tolist()

    def _kernels(self, op: str) -> Iterator[Int64]:
        """Yield for each host the name codes of the events that belong to the op by their stats."""
        layout = self._layout
        for index, forest in enumerate(self._forests):
            labels = forest.once(label_all_ops)
            wanted = np.append(labels.op_name == op, False)[labels.code]  # -1, no op, takes the last
            mine = layout.recorded & (layout.host_index == index)
            yield layout.name[mine][wanted[layout.host_event[mine]]].astype(np.int64)


def line_of(source: SourceLines, event: str) -> str:
    """Return the line of code that events of this name come from, with its text if it is a cell's; empty if unknown."""
    lines = source.table
    code = lines.loc[lines["event"] == event, "code"]
    if event.startswith(CELL_LINE):
        return ": ".join([event, *code[:1].str.strip()])
    op = event.partition(":")[0]
    return source.line_of(op) or source.line_of(without_calls(op))
