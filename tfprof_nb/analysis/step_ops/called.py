"""The nodes of functions that some nodes call."""

import numpy as np

from tfprof_nb._arrays import Bools
from tfprof_nb.decode.sections.graphs import Graphs

LOOP_ROLES = ("body", "cond")


def with_called(graphs: Graphs, own: Bools) -> Bools:
    """Flag nodes, given by a flag per node, and those of functions that no other nodes call."""
    calls, function = graphs.calls, graphs.nodes["function"].to_numpy(np.int64)
    caller = calls["node"].to_numpy(np.int64)
    flags = own
    while True:
        called = set(calls.loc[flags[caller], "function"]) - set(calls.loc[~flags[caller], "function"]) - {-1}
        more: Bools = flags | np.isin(function, list(called))
        if (more == flags).all():
            return flags
        flags = more
