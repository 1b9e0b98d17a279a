"""Every event as one frame, for questions that no view answers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tfprof_nb.analysis.events.forest import Forest


def events(forests: Sequence[Forest]) -> pd.DataFrame:
    """Return every complete event: ``host plane line name start_ps duration_ps``; texts are categoricals."""
    frames = [_host_events(forest) for forest in forests]
    return pd.concat(frames, ignore_index=True).astype(dict.fromkeys(["host", "plane", "line", "name"], "category"))


def _host_events(forest: Forest) -> pd.DataFrame:
    complete = Forest(forest.host.complete())
    host, ran = complete.host, ~complete.are_counters
    line = host.line[ran]
    lines = pd.Categorical([line.name for line in host.lines])
    planes = pd.Categorical([host.planes[line.plane].name for line in host.lines])
    names = pd.Categorical(host.names)
    return pd.DataFrame(
        {
            "host": pd.Categorical.from_codes(np.zeros(len(line), dtype=np.int8), pd.Index([host.name])),
            "plane": pd.Categorical.from_codes(planes.codes[line], planes.categories),
            "line": pd.Categorical.from_codes(lines.codes[line], lines.categories),
            "name": pd.Categorical.from_codes(names.codes[host.metadata[ran]], names.categories),
            "start_ps": host.start_ps[ran],
            "duration_ps": host.duration_ps[ran],
        }
    )
