"""Read what tfprof's views need of a session's runs: the nodes that ran, and the graph that the capture wrote."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tfprof_nb.decode.files import kind_of, read
from tfprof_nb.decode.run_metadata import executed_nodes, parse_run_metadata
from tfprof_nb.decode.sidecar import Sidecar, read_sidecar
from tfprof_nb.formats.files import SESSION_GRAPH


class SessionRuns(NamedTuple):
    """The sidecar with the graph (empty if there is none), and a row per run of a node, with its ``step``."""

    sidecar: Sidecar
    executed: pd.DataFrame


def read_session(files: Sequence[Path]) -> SessionRuns | None:
    """Read the RunMetadata of runs, each as a step; return None if the files are of another kind.

    Raises
    ------
    BadProfileError
        As `files.read` and `run_metadata.parse_run_metadata`.
    """
    if not files or any(kind_of(file) != "run_metadata" for file in files):
        return None
    runs = [executed_nodes(parse_run_metadata(read(file), str(file))) for file in files]
    executed = pd.concat([run.assign(step=step) for step, run in enumerate(runs)], ignore_index=True)
    return SessionRuns(read_sidecar(files[0].with_name(SESSION_GRAPH)), executed)
