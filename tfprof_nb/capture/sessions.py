"""Record the runs of a `tf.compat.v1.Session`: TensorFlow's RunMetadata of each, and the session's graph.

A run folder gets ``<host>.<number>.run_metadata.pb`` for each recorded run, and ``graph.tfprof.json.gz``: the graph,
with what TensorFlow knows of its nodes (docs/sidecar.md, section ``graphs``).
"""

import shutil
import socket
import threading
import time
import warnings
from collections import Counter
from collections.abc import Container
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tfprof_nb._errors import CaptureError
from tfprof_nb.capture.run_folder import publish, staging_folder
from tfprof_nb.capture.session_graph import write_graph
from tfprof_nb.capture.tensorflow import is_tracing, tensorflow
from tfprof_nb.formats.files import RUN_METADATA, RUN_TIME, WARM_UP


@dataclass(frozen=True)
class Choice:
    """Which runs to record: every ``every``-th after the first ``warmup``, at most ``runs`` of them."""

    warmup: int = 1
    every: int = 1
    runs: int | None = None

    def __post_init__(self) -> None:
        for name, minimum in (("warmup", 0), ("every", 1), ("runs", 1)):
            value = getattr(self, name)
            if value is not None and value < minimum:
                raise ValueError(f"{name} must be at least {minimum}, not {value}.")

    def takes(self, number: int) -> bool:
        """Whether to record the run of this number, counted from 0."""
        since = number - self.warmup
        return since >= 0 and since % self.every == 0 and (self.runs is None or since // self.every < self.runs)

    def left_out(self, begun: int, recorded: Container[int]) -> list[str]:
        """Say which of so many runs were not recorded, and why."""
        why = Counter(self._reason(number) for number in range(begun) if number not in recorded)
        told = ", ".join(f"{count:,} {reason}" for reason, count in why.items())
        return [f"Of {begun:,} runs of the session these were left out: {told}."] if told else []

    def _reason(self, number: int) -> str:
        if number < self.warmup:
            return f"of the warm-up, after its first (warmup={self.warmup})"
        if (number - self.warmup) % self.every:
            return f"that every={self.every} skips"
        return "that failed" if self.takes(number) else f"beyond runs={self.runs}"


class SessionRecording:
    """Records a session's runs from `start` to `stop`.

    Meanwhile ``session.run`` is ours: it asks TensorFlow to trace the chosen runs and the first, and otherwise does
    what the session's own does. The last run of the warm-up is traced too, and dropped once a chosen run was traced.

    Parameters
    ----------
    session
        The session, or an object that wraps one and has its ``run`` and ``graph``.
    logdir
        Where to write the run folder.
    choice
        Which runs to record.
    """

    def __init__(self, session: Any, logdir: Path, choice: Choice) -> None:
        self._session, self._choice, self._logdir = session, choice, logdir
        self._lock = threading.Lock()
        self._begun = 0
        self._last: Any = None  # RunMetadata
        self._recorded: set[int] = set()

    def start(self) -> Self:
        """Start recording, once.

        Raises
        ------
        MissingDependencyError
            If TensorFlow is not installed.
        CaptureError
            If nothing can be written to the logdir, or the session is recorded already.
        """
        session = self._session
        if isinstance(getattr(session.run, "__self__", None), SessionRecording):
            raise CaptureError("This session is already being profiled: use one profile_session at a time.")
        self._proto = tensorflow().compat.v1
        self._staging = staging_folder(self._logdir)
        self._run = self._staging / time.strftime(RUN_TIME)
        self._run.mkdir()
        self._has_device = _has_device(session)
        self._original = session.run
        self._own = vars(session).get("run")
        session.run = self.run
        return self

    def stop(self) -> Path:
        """End the recording, restore ``session.run``, and return the run folder.

        Raises
        ------
        CaptureError
            If the session ran nothing, or the profile could not be saved.
        """
        if self._own is None:
            del self._session.run
        else:
            self._session.run = self._own
        with ExitStack() as undo:
            undo.callback(shutil.rmtree, self._staging, ignore_errors=True)
            if not self._recorded:
                raise CaptureError("The session ran nothing while it was profiled: call its run() inside the block.")
            last_of_warm_up = self._choice.warmup - 1
            if last_of_warm_up in self._recorded - {0} and max(self._recorded) > last_of_warm_up:
                self._file(last_of_warm_up).unlink()
                self._recorded.remove(last_of_warm_up)
            self._describe_graph()
            return publish(self._run, self._staging, self._logdir)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run as the session itself does; see `tf.compat.v1.Session.run`."""
        with self._lock:
            number, self._begun = self._begun, self._begun + 1
        if not self._choice.takes(number) and number not in (0, self._choice.warmup - 1):
            return self._original(fetches, feed_dict, options, run_metadata)
        traced = self._proto.RunMetadata()
        try:
            return self._original(fetches, feed_dict, self._traced(options), traced)
        finally:
            if run_metadata is not None:
                run_metadata.CopyFrom(traced)
            if traced.HasField("step_stats"):
                self._last = traced
                self._recorded.add(number)
                self._file(number).write_bytes(traced.SerializeToString())

    def _describe_graph(self) -> None:
        try:
            write_graph(self._run, self._session.graph, self._last, self._choice.left_out(self._begun, self._recorded))
        except Exception as error:  # noqa: BLE001  (whatever fails, the profile must be kept)
            warnings.warn(f"The profile has no graph: {type(error).__name__}: {error}", stacklevel=4)

    def _traced(self, options: Any) -> Any:
        """Return the user's options with tracing on; a level of tracing that the user chose is kept."""
        traced = self._proto.RunOptions()
        if options is not None:
            traced.CopyFrom(options)
        if traced.trace_level == self._proto.RunOptions.NO_TRACE:
            # A full trace adds the devices' work. It starts a profiler, which writes to stderr at every run. While
            # another profiler runs, TensorFlow refuses a full trace, and the run with it.
            level = "FULL_TRACE" if self._has_device and not is_tracing() else "SOFTWARE_TRACE"
            traced.trace_level = self._proto.RunOptions.TraceLevel.Value(level)
        return traced

    def _file(self, number: int) -> Path:
        warm_up = WARM_UP if number == 0 and self._choice.warmup else ""
        return self._run / f"{socket.gethostname()}.{number:04d}{warm_up}{RUN_METADATA}"


def _has_device(session: Any) -> bool:
    """Whether a session may compute on devices other than CPUs; a wrapped session may not tell."""
    list_devices = getattr(session, "list_devices", None)
    return list_devices is None or any(device.device_type != "CPU" for device in list_devices())
