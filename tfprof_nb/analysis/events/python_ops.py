"""Ops by which graphs call Python: of the program's own graphs, and of the pipelines of tf.data."""

from typing import NamedTuple

import numpy as np

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.links import CAPTURED, EXECUTOR, tf_data_steps

PYTHON_OPS = ("EagerPyFunc", "PyFunc", "PyFuncStateless")


class PythonCalls(NamedTuple):
    """Events of ops by which the program's own graphs call Python, and of those by which pipelines do."""

    of_graphs: Int64
    of_pipelines: Int64


def python_calls(forest: Forest) -> PythonCalls:
    """Find the ops that run Python functions, and tell those of the program's graphs from those of pipelines."""
    kinds = np.array([str(name).rpartition(":")[2] in PYTHON_OPS for name in forest.host.names], dtype=bool)
    events = np.flatnonzero(forest.with_names(kinds) & forest.on_host)
    if not len(events):
        return PythonCalls(events, events)
    runs = np.flatnonzero(forest.named(EXECUTOR) | forest.name_starts(CAPTURED))
    around = forest.nearest_ancestor(events, runs)
    programs = forest.named(EXECUTOR)[runs] & ~np.isin(forest.ints_at("id", runs), tf_data_steps(forest))
    own = np.append(programs, False)[around]
    return PythonCalls(events[own], events[~own])
