"""``load``: profiles from files."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfprof_nb import runs
from tfprof_nb._errors import BadProfileError
from tfprof_nb.profiles import Profile
from tfprof_nb.runs import Run

Source = str | os.PathLike[str]


def load(
    path: Source | Sequence[Source] | Run,
    *,
    name: str | None = None,
    as_runs: bool = False,
    cache: bool = True,
    client: Any = None,
) -> Profile:
    """Open a profile that was made before, here or elsewhere.

    Parameters
    ----------
    path
        A logdir (its newest readable run is taken), a run's folder, a file, or several files: the hosts of one run;
        or a `Run` of `find_runs`.
        Each can be a URL (``gs://``, ``s3://``, ``https://`` and what else fsspec opens): its files are copied to
        ``~/.cache/tfprof_nb``, and copied again when they change.
        Files are XSpace profiles (``*.xplane.pb`` or any other name), Chrome traces (TensorFlow 1's timelines among
        them; a folder of these stands for all of them, in order of their names), RunMetadata, ``ProfileProto`` of
        tfprof, or ``local.trace`` of TensorFlow 2.0.
    name
        What to call it; None takes what it was called when it was captured, or else the run's name.
    as_runs
        Several paths are runs, shown on one timeline one after another; a logdir stands for all of its runs.
    cache
        Whether to take results from the last time that the run was opened, if its files have not changed, and to keep
        them in ``~/.cache/tfprof_nb/results`` for the next time.
    client
        A Dask client (``pip install 'tfprof_nb[dask]'``), for runs of many hosts: its workers read the hosts, each by
        itself, so they need this package and the same paths, or URLs. None reads them on this machine; many or large
        hosts in several processes. Of a worker that dies again and again only the hosts that it read are left out.

    Raises
    ------
    ProfileNotFoundError
        If there is nothing at the path, or no profile in the folder.
    MissingDependencyError
        If the package that opens such URLs is not installed.
    BadProfileError
        If no file of the run can be read: they are empty, cut short or no profiles. Of several files, those that
        cannot be read are left out, and ``overview.notes`` says so.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile(logdir="logs"):
    ...     pass
    >>> tp.load("logs").hosts == tp.last().hosts
    True
    """
    run = runs.resolve(path, as_runs=as_runs)
    if run.parts:
        client = None  # the runs of one host make one timeline
    if run.newest_of == 1 or not isinstance(path, str | os.PathLike):
        return _opened(run, name, cache, client)
    left_out: dict[str, BadProfileError] = {}
    for older in reversed([*runs.find_runs(path)[:-1], run]):
        notes = (f"The newer run {newer} was left out. {error}" for newer, error in left_out.items())
        try:
            return _opened(replace(older, notes=(*notes, *older.notes)), name, cache, client)
        except BadProfileError as error:
            left_out[older.name] = error
    raise left_out[run.name]


def _opened(run: Run, name: str | None, cache: bool, client: Any) -> Profile:
    profile = Profile(run, name or run.title or None, cache=cache, client=client)
    profile.data.extent  # noqa: B018  (a bad file fails here, where it was named)
    return profile
