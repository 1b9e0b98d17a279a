"""``capture_remote``: sampling mode, which captures programs in other processes, here or on other machines."""

import os
import warnings
from collections.abc import Iterable

from tfprof_nb import runs
from tfprof_nb.api.session import LOGDIR, folder_for, remember, send_run
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.remote import RemoteRun, capture_workers
from tfprof_nb.profiles import Profile
from tfprof_nb.render.progress import progress_line


def capture_remote(
    addresses: str | Iterable[str],
    seconds: float = 2.0,
    *,
    name: str | None = None,
    logdir: str | os.PathLike[str] | None = None,
    host_level: int = 2,
    device_level: int = 1,
    python_level: int = 0,
    delay_ms: float = 0,
    retries: int = 3,
) -> Profile:
    """Capture a profile of running programs that have a profiler server.

    Parameters
    ----------
    addresses
        The workers: ``host:port`` or ``grpc://host:port``, several in a list or with commas between them. A name
        without a port is a Cloud TPU's, and stands for all its hosts.
    seconds
        How long the workers record, all at the same time.
    name
        What the profile is called in titles and comparisons; None takes the run's own name.
    logdir
        Folder for the files, an ordinary TensorBoard logdir, on this machine or at a URL (``gs://``, ``s3://`` and what
        else fsspec opens). None is ``tfprof_logs`` in the working folder. This program writes it: the workers need no
        access to it.
    host_level, device_level, python_level
        What to record, as in `profile`.
    delay_ms
        How long the workers wait before they record, by their own clocks.
    retries
        How often to ask a worker again, after a second each time, that cannot be reached yet, is busy with another
        capture, or in which nothing ran.

    Returns
    -------
    Profile
        One profile with a host for each worker, named by its address (``10.0.0.2_6009``). Workers that failed are
        left out, with a warning that names them and says why.

    Raises
    ------
    CaptureError
        If no worker could be captured, a TPU's name could not be looked up, or nothing can be written to ``logdir``.
    ValueError
        If an address, the time, a level, ``delay_ms`` or ``retries`` is invalid.
    MissingDependencyError
        If gRPC is not installed. TensorFlow is not needed on this side.

    Notes
    -----
    The programs call ``tfprof_nb.start_server(port)`` before they train, or ``tf.profiler.experimental.server.start``;
    the workers of a ``MultiWorkerMirroredStrategy`` also answer on the addresses of their ``TF_CONFIG``.
    An interrupt ends the capture on all workers and saves nothing.

    Examples
    --------
    A program that trains on port 6009 of this machine:

    >>> import tfprof_nb as tp
    >>> p = tp.capture_remote("127.0.0.1:6009", seconds=1)  # doctest: +SKIP
    >>> p.hosts  # doctest: +SKIP
    ('127.0.0.1_6009',)
    """
    options = Options(host_level, device_level, python_level)
    target = LOGDIR if logdir is None else logdir
    with progress_line() as say:
        run = capture_workers(
            addresses,
            seconds,
            folder_for(target),
            options,
            retries=retries,
            report=lambda progress: say(progress.text),
            delay_ms=delay_ms,
        )
    if run.problems:
        warnings.warn(problems_text(run), stacklevel=2)
    captured = profile_of(run, name)
    if problem := send_run(run.folder, target):
        warnings.warn(problem, stacklevel=2)
    return captured


def profile_of(run: RemoteRun, name: str | None = None) -> Profile:
    """Return the profile of a remote capture, and make it the newest of the session."""
    captured = Profile(runs.resolve(run.folder), name)
    remember(captured)
    return captured


def problems_text(run: RemoteRun) -> str:
    """Name the workers that were not captured, with the reasons."""
    return "Not every worker was captured: " + "; ".join(f"{worker} {what}" for worker, what in run.problems.items())
