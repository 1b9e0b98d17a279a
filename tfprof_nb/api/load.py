"""``load``: profiles from files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tfprof_nb import runs
from tfprof_nb.profiles import Profile

Source = str | os.PathLike[str]


def load(path: Source | Sequence[Source], *, name: str | None = None, as_runs: bool = False) -> Profile:
    """Open a profile that was made before, here or elsewhere.

    Parameters
    ----------
    path
        A logdir (its newest run is taken), a run's folder, a file, or several files: the hosts of one run. Files are
        XSpace profiles (``*.xplane.pb``), Chrome traces (TensorFlow 1's timelines among them), or RunMetadata.
    name
        What to call it; None takes the run's name.
    as_runs
        Several paths are runs, shown on one timeline one after another; a logdir stands for all of its runs.

    Raises
    ------
    ProfileNotFoundError
        If there is nothing at the path, or no profile in the folder.
    BadProfileError
        If a file is empty, cut short or no profile.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile(logdir="logs"):
    ...     pass
    >>> tp.load("logs").hosts == tp.last().hosts
    True
    """
    profile = Profile(runs.resolve(path, as_runs=as_runs), name)
    profile.data.forests  # noqa: B018  (a bad file fails here, where it was named)
    return profile
