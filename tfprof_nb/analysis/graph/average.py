"""What an average step of a graph consists of, and what it excludes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import microseconds
from tfprof_nb.analysis.graph.model import OUTSIDE

_MIN_SHARE = 0.005  # of all op time; less is not worth a note
_MAX_NAMES = 3
# Ops of tf.data itself, and of the functions that it is given (`__inference_Dataset_map_decode_42`).
_PIPELINE = rf"^(?:.*/)?(?:{OUTSIDE}/Iterator\b|Dataset_[a-z_]+)"


def occasional(unit: pd.Series[str], runs: pd.DataFrame) -> Int64:
    """Return the nodes that ran in at most half of the steps, such as those of a report now and then.

    Parameters
    ----------
    unit
        Per node, what it runs as part of: its Python function, whichever of its traced versions ran; or the node.
    runs
        `GraphModel.runs`, of the steps in the averages.
    """
    steps = runs["step"].nunique()
    ran_in = runs.groupby(runs["node"].map(unit))["step"].nunique()
    rare = ran_in.index[(2 * ran_in <= steps) & (steps > 1)]
    return np.flatnonzero(unit.isin(rare))


def excluded_ops(names: pd.Series[str], events: pd.DataFrame, rare: Int64) -> Iterator[str]:
    """Say which ops an average step excludes, if they take much time.

    Parameters
    ----------
    events
        One row per event: ``node step micros``; step is -1 outside of steps.
    """
    whole = events["micros"].sum()
    outside = events[events["step"] < 0]
    if outside["micros"].sum() >= _MIN_SHARE * whole:
        micros = outside.groupby("node")["micros"].sum()
        in_pipeline = micros[names[micros.index].str.contains(_PIPELINE)].sum()
        where = " (most of it in the input pipeline's own ops)" if 2 * in_pipeline > micros.sum() else ""
        share = micros.sum() / whole
        yield f"{share:.0%} of the ops' time is outside of steps{where} and is excluded: {_largest(names, micros)}."
    inside = events[(events["step"] >= 0) & events["node"].isin(rare)]
    if inside["micros"].sum() >= _MIN_SHARE * whole:
        micros = inside.groupby("node")["micros"].sum()
        yield (
            f"{microseconds(micros.sum())} of ops that ran in at most half of the steps are not part of "
            f"an average step: {_largest(names, micros)}."
        )


def _largest(names: pd.Series[str], micros: pd.Series[float]) -> str:
    largest = micros.nlargest(_MAX_NAMES)
    short = names[largest.index].str.replace(f"{OUTSIDE}/", "")
    named = [f"{name} {microseconds(time)}" for name, time in zip(short, largest, strict=True)]
    return ", ".join(named) + (" and others" if len(micros) > _MAX_NAMES else "")
