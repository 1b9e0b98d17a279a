"""Match opening events with those that close them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64


def match(group: Int64, opens: Bools) -> Int64:
    """Return for each event the one that closes it: in each group the last opened is closed first.

    Parameters
    ----------
    group
        A number per event, in order of time: only events of one group match.
    opens
        Whether an event opens or closes.

    Returns
    -------
    array
        The row of the closing event; -1 for events that are never closed, and for those that close.

    Examples
    --------
    >>> match(np.array([0, 0, 0, 0, 0]), np.array([False, True, True, False, True])).tolist()
    [-1, -1, 3, -1, -1]
    """
    order = np.argsort(group, kind="stable")
    groups, step = pd.Series(group[order]), pd.Series(np.where(opens[order], 1, -1))
    level = step.groupby(groups).cumsum()
    # What closes nothing would take the level below its lowest so far: it counts for nothing.
    depth = level - level.groupby(groups).cummin().clip(upper=0) + (step < 0)
    # An event and what closes it have the same depth, and no third one of that depth lies between them.
    pairs = order[np.lexsort((depth.to_numpy(), groups.to_numpy()))]
    depth_of = np.empty(len(order), dtype=np.int64)
    depth_of[order] = depth
    one, two = pairs[:-1], pairs[1:]
    same = (group[one] == group[two]) & (depth_of[one] == depth_of[two]) & opens[one] & ~opens[two]
    closing = np.full(len(group), -1, dtype=np.int64)
    closing[one[same]] = two[same]
    return closing
