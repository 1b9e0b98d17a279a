"""What an average step of a graph is made of, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import microseconds
from tfprof_nb.analysis.graph.model import OUTSIDE

_WORTH_A_NOTE = 0.005  # of all op time
_NAMED = 3
# Ops of tf.data itself, and of the functions that it is given (`__inference_Dataset_map_decode_42`).
_PIPELINE = rf"^(?:.*/)?(?:{OUTSIDE}/Iterator\b|Dataset_[a-z_]+)"


def occasional(unit: pd.Series[str], runs: pd.DataFrame) -> Int64:
    """Return the nodes of what ran in at most half of the steps: setup, tracing, an evaluation now and then.

    Parameters
    ----------
    unit
        Of each node what it runs as part of: its Python function, whichever of its traced versions ran; or the node.
    runs
        `GraphModel.runs`.
    """
    steps = runs["step"].nunique()
    ran_in = runs.groupby(runs["node"].map(unit))["step"].nunique()
    seldom = ran_in.index[(2 * ran_in <= steps) & (steps > 1)]
    return np.flatnonzero(unit.isin(seldom))


def left_out(names: pd.Series[str], events: pd.DataFrame, seldom: Int64) -> Iterator[str]:
    """Say which ops an average step does not have, as far as they take time.

    Parameters
    ----------
    names
        The names of the nodes.
    events
        One row per event: ``node step micros``; step is -1 outside of steps.
    seldom
        The nodes that are `occasional`.
    """
    whole = events["micros"].sum()
    outside = events[events["step"] < 0]
    if outside["micros"].sum() >= _WORTH_A_NOTE * whole:
        taken = outside.groupby("node")["micros"].sum()
        own = taken[names[taken.index].str.contains(_PIPELINE)].sum()
        whose = ", most of it of the input pipeline's own ops" if 2 * own > taken.sum() else ""
        share = taken.sum() / whole
        yield f"{share:.0%} of the ops' time is outside of steps{whose}, and left out: {_largest(names, taken)}."
    rest = events[(events["step"] >= 0) & events["node"].isin(seldom)]
    if rest["micros"].sum() >= _WORTH_A_NOTE * whole:
        taken = rest.groupby("node")["micros"].sum()
        yield (
            f"{microseconds(taken.sum())} of ops that ran in at most half of the steps (setup, tracing) are no part of "
            f"an average step: {_largest(names, taken)}."
        )


def _largest(names: pd.Series[str], micros: pd.Series[float]) -> str:
    largest = micros.nlargest(_NAMED)
    short = names[largest.index].str.replace(f"{OUTSIDE}/", "")
    named = [f"{name} {microseconds(time)}" for name, time in zip(short, largest, strict=True)]
    return ", ".join(named) + (" and others" if len(micros) > _NAMED else "")
