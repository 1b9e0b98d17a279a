"""What tfprof's views need of a session's recorded runs: the nodes that ran, and the graph that the capture wrote."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from .run_metadata import executed_nodes, parse_run_metadata
from .sidecar import read_sidecar

GRAPH = "graph"  # the sidecar of a session's graph lies beside its runs: graph.tfprof.json.gz
_NO_RUN_METADATA = (".xplane.pb", ".xplane.pb.gz", ".json", ".json.gz")
_GZIP = b"\x1f\x8b"


class SessionRuns(NamedTuple):
    """The graph's section of the sidecar (empty where there is none), and a row per run of a node with its ``step``."""

    section: Mapping[str, Any]
    executed: pd.DataFrame


def read_session(files: Sequence[Path]) -> SessionRuns | None:
    """Read the RunMetadata of runs, each as a step; None where the files are of another kind.

    Raises
    ------
    BadProfileError
        As `run_metadata.parse_run_metadata`.
    """
    if not files or any(file.name.endswith(_NO_RUN_METADATA) for file in files):
        return None
    runs = [executed_nodes(parse_run_metadata(_content(file), str(file))) for file in files]
    executed = pd.concat([run.assign(step=step) for step, run in enumerate(runs)], ignore_index=True)
    return SessionRuns(read_sidecar(files[0].with_name(GRAPH)).sections.get("graphs", {}), executed)


def _content(file: Path) -> bytes:
    data = file.read_bytes()
    return gzip.decompress(data) if data.startswith(_GZIP) else data
