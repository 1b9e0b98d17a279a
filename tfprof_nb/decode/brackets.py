"""Match opening events with closing events."""

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64


def match(group: Int64, opens: Bools) -> Int64:
    """Return for each event the event that closes it: in each group, the last one opened is closed first.

    Parameters
    ----------
    group
        The group of each event; only events of the same group match. Events are in order of time.
    opens
        Whether each event opens or closes.

    Returns
    -------
    array
        The row of each event's closing event; -1 for events that are never closed, and for closing events.

    Examples
    --------
    >>> match(np.array([0, 0, 0, 0, 0]), np.array([False, True, True, False, True])).tolist()
    [-1, -1, 3, -1, -1]
    """
    order = np.argsort(group, kind="stable")
    groups, step = pd.Series(group[order]), pd.Series(np.where(opens[order], 1, -1))
    level = step.groupby(groups).cumsum()
    # A closing event without an opening one would take the level below its lowest so far: it is ignored.
    depth = level - level.groupby(groups).cummin().clip(upper=0) + (step < 0)
    # An event and its closing event have the same depth, and no other event of that depth lies between them.
    pairs = order[np.lexsort((depth.to_numpy(), groups.to_numpy()))]
    depth_of = np.empty(len(order), dtype=np.int64)
    depth_of[order] = depth
    first, second = pairs[:-1], pairs[1:]
    same = (group[first] == group[second]) & (depth_of[first] == depth_of[second]) & opens[first] & ~opens[second]
    closing = np.full(len(group), -1, dtype=np.int64)
    closing[first[same]] = second[same]
    return closing
