"""The graph of a run, from what its files are: the RunMetadata of a session, or events and described functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.graph.events import model_of_events
from tfprof_nb.analysis.graph.graph import Graph, graph
from tfprof_nb.analysis.graph.runs import with_runs
from tfprof_nb.analysis.graph.section import session_model
from tfprof_nb.decode.graphs import SECTION, Graphs
from tfprof_nb.decode.session_graph import read_session


def graph_of_run(
    files: Sequence[Path], forests: Sequence[Forest], graphs: Sequence[Graphs], steps: Sequence[Int64]
) -> Graph:
    """Describe the graph that ran.

    Parameters
    ----------
    files
        The run's files.
    forests, graphs, steps
        Per host: its events, the functions that ran there, and the step of every event.
    """
    session = read_session(files)
    if session is None:
        return graph(model_of_events(forests, graphs, steps))
    model = session.sidecar.read(SECTION, session_model)
    found = graph(with_runs(model, session.executed))
    found.notes += session.sidecar.notes
    return found
