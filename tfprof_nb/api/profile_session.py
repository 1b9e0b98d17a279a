"""``profile_session``: captures of a TensorFlow 1 session's runs."""

import os
import warnings
from types import TracebackType
from typing import Any

from tfprof_nb import runs
from tfprof_nb._errors import TfprofError
from tfprof_nb.api.session import LOGDIR, hides, remember
from tfprof_nb.capture.sessions import Choice, SessionRecording
from tfprof_nb.formats.files import local_path
from tfprof_nb.pending_run import PendingRun
from tfprof_nb.profiles import Profile


class profile_session:  # noqa: N801  (used as a function: a context manager)
    """Profile the runs of a `tf.compat.v1.Session` inside a block.

    TensorFlow traces the chosen runs (``FULL_TRACE``); each becomes a step. A note says which runs were left out. Call
    the session's ``run`` as usual: options that are passed to it stay in effect.

    Parameters
    ----------
    session
        A session, an interactive session or a monitored session.
    name
        What the profile is called; None takes the run's own name.
    logdir
        Folder for the profile's files. None is ``tfprof_logs`` in the working folder.
    warmup
        Runs to leave out first. The first of all is recorded, as a warm-up: it starts the session and takes longer than
        the others, so averages exclude it.
    every
        Record every run (1), every second (2), and so on.
    runs
        The most runs to record; None records to the end of the block.

    Returns
    -------
    Profile
        What ``as`` gives. It can be used once the block has ended.

    Raises
    ------
    CaptureError
        If the profile cannot be written, or the session ran nothing.

    Examples
    --------
    >>> import tensorflow as tf, tfprof_nb as tp
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     product = tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))
    ...     with tp.profile_session(session) as p:
    ...         for _ in range(4):
    ...             _ = session.run(product)
    >>> p.steps.table["warm_up"].tolist()
    [True, False, False, False]
    """

    def __init__(
        self,
        session: Any,
        name: str | None = None,
        *,
        logdir: str | os.PathLike[str] | None = None,
        warmup: int = 1,
        every: int = 1,
        runs: int | None = None,
    ) -> None:
        self._session, self._name = session, name
        self._logdir = local_path(LOGDIR if logdir is None else logdir).absolute()
        self._choice = Choice(warmup, every, runs)

    def __enter__(self) -> Profile:
        __tracebackhide__ = True
        self._recording = SessionRecording(self._session, self._logdir, self._choice).start()
        self._run = PendingRun()
        self._profile = Profile(self._run, self._name)
        return self._profile

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        __tracebackhide__ = True
        try:
            self._run.complete(runs.resolve(self._recording.stop()))
        except TfprofError as failure:
            self._run.fail(str(failure))
            if not hides(error, failure):
                raise
            warnings.warn(f"No profile: {failure}", stacklevel=2)
        else:
            remember(self._profile)
