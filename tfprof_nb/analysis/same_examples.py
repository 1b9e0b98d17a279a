"""Whether two programs train on the same examples: as many, with the same values, as random from pass to pass.

In: for each dataset and pass, a number per example, in order. Threads may mix the order and the random values from run
to run, so that losses tell little; what changes from pass to pass tells more.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tfprof_nb._arrays import Floats

_SAME = 1e-3  # of the values' spread
# What differs: the number of examples, whether their values or their order change from pass to pass. Random values that
# a seed made the same in each pass are drawn anew by threads that take turns at random.
Kind = Literal["", "rows", "values", "redrawn", "order"]


def difference_of_examples(one: Sequence[Sequence[Floats]], other: Sequence[Sequence[Floats]]) -> tuple[Kind, str]:
    """Return what differs, and words for it; empty if nothing does that could be told.

    Examples
    --------
    >>> noise = [np.array([1.0, 2.0]), np.array([1.1, 2.2])]
    >>> difference_of_examples([noise], [noise[:1] * 2])
    ('values', 'each pass trains on the same random values')
    >>> difference_of_examples([noise], [[each[:1] for each in noise]])
    ('rows', 'a pass has 2 and 1 examples')
    """
    for before, after in zip(one, other, strict=False):
        if not before or not after:
            continue
        if len(before[0]) != len(after[0]):
            return "rows", f"a pass has {len(before[0])} and {len(after[0])} examples"
        values = [all(_alike(np.sort(side[0]), np.sort(each)) for each in side[1:]) for side in (before, after)]
        if len(before) == 1 or len(after) == 1:
            continue
        if values[1] and not values[0]:
            return "values", "each pass trains on the same random values"
        if values[0] and not values[1]:
            return "redrawn", "each pass trains on other random values"
        orders = [all(_alike(side[0], each) for each in side[1:]) for side in (before, after)]
        if all(values) and orders[0] != orders[1]:
            return "order", f"the examples come in {'the same' if orders[1] else 'another'} order in each pass"
    return "", ""


def _alike(one: Floats, other: Floats) -> bool:
    if one.shape != other.shape:
        return False
    if not one.size:
        return True
    spread = float(np.ptp(one)) or float(np.abs(one).max()) or 1.0
    return bool(np.nan_to_num(np.abs(one - other)).max() <= _SAME * spread)


def are_random(one: Sequence[Sequence[Floats]], other: Sequence[Sequence[Floats]]) -> bool:
    """Whether both programs train on other random values in each pass."""

    def vary(passes: Sequence[Sequence[Floats]]) -> bool:
        return any(not _alike(np.sort(side[0]), np.sort(each)) for side in passes if side for each in side[1:])

    return vary(one) and vary(other)
