import re

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.analysis.step_ops.small_ops import in_loops

_RECURRENT = re.compile(r"(?:LSTM|GRU|RNN)(?:Cell)?$")
_MANY_TIMES = 64
_PADS = r"\bpad_sequences\(|\boutput_sequence_length *=|\bpadded_batch\(.*padded_shapes"

RULE = Rule(
    "padded-sequences",
    "Recurrent layers go through padding",
    "Looks for recurrent layers that go through 64 time steps or more, in programs that pad sequences to one length.",
    "A time step of padding costs as much as one of data.",
    action="Pad the sequences less",
    page="ops",
    moderate=20.0,
    supersedes=("dominant-op",),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    if not ops.steps or ops.graphs.nodes.empty:
        return
    graphs, (owner, _) = ops.graphs, ops.graphs.once(owners)
    kinds = np.append(graphs.layers["type"].to_numpy(dtype=object), "")[np.where(owner < len(graphs.layers), owner, -1)]
    recurrent = np.array([_RECURRENT.search(str(kind)) is not None for kind in kinds], dtype=bool)
    looping = ops.once(in_loops)
    counts = ops.per_node["count"].reindex(graphs.nodes.index, fill_value=0.0).to_numpy()
    # The condition of a loop runs once more than its body, which has most of the nodes.
    passes, nodes = np.unique(counts[recurrent & looping & (counts > 0)], return_counts=True)
    times = float(passes[nodes.argmax()]) if len(passes) else 0.0
    percent = ops.percent(looping)
    found = next(evidence.code.find(_PADS), None)
    if found is None or times < _MANY_TIMES:
        return
    place, padded = place_of(*found), evidence.code.argument(*found, "pad_sequences") or "sequences"
    layer = str(graphs.layers["type"].iloc[owner[recurrent & looping][0]]).removesuffix("Cell")
    yield Case(
        percent,
        f"The {layer} goes through {_units.count(times)} time steps, however short the sequences are ({place})",
        f"{quoted(evidence.code.line(*found))} pads all sequences to one length. Loops over time run in "
        f"{_units.percent(percent)} of each step, and padding costs as much as data.",
        f"Look at the lengths of the sequences. Pad to one that is enough for most of them, such as "
        f"`int(np.percentile([len(s) for s in {padded}], 95))`, or put like lengths into a batch: "
        ".bucket_by_sequence_length() of a dataset pads each batch by itself.",
        place,
        severity="info",
    )
