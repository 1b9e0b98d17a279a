"""Profilers that the profiled code starts itself: ours gives way to them, and their files are found afterwards.

``tf.profiler.experimental.start`` and ``.Profile``, the ``TensorBoard`` callback of Keras 3 and of ``tf_keras``, and
``tf.summary.trace_on`` all make one kind of session; that is what is replaced while a capture runs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from tfprof_nb.capture.marks import begin_marks_again, close_marks
from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.tensorflow import session_class, session_module
from tfprof_nb.formats.files import RUNS_FOLDER, XSPACE

_PROFILES = f"{RUNS_FOLDER}/*/*{XSPACE}"


class ForeignProfilers:
    """Lets other profilers start while the ``with`` block runs.

    Parameters
    ----------
    give_way
        Is called before another profiler starts: ours must have ended when it returns. Returns whether that cut it
        short.

    Attributes
    ----------
    cut_short
        Whether our capture is not what it was to be, because another profiler started.
    runs
        The run folders that other profilers saved.
    """

    def __init__(self, give_way: Callable[[], bool]) -> None:
        self._give_way = give_way
        self._undo = ExitStack()
        self.cut_short = False
        self.runs: list[Path] = []

    def __enter__(self) -> Self:
        self._undo.enter_context(replaced(session_module(), "ProfilerSession", _foreign_session(self)))
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def starts(self) -> None:
        """Note that another profiler is about to start."""
        self.cut_short = self._give_way() or self.cut_short

    def saved(self, logdir: Path) -> None:
        """Note that another profiler saved a profile, the newest there."""
        files = sorted(logdir.glob(_PROFILES), key=lambda file: file.stat().st_mtime_ns)
        if files:
            self.runs.append(files[-1].parent.absolute())

    def note(self) -> str:
        """Say whose profile this is, if another profiler started at all."""
        if not self.runs:
            return _NOTHING_SAVED if self.cut_short else ""
        if not self.cut_short:
            return f"The profiled code also ran a profiler of its own, whose profile is in {self.runs[-1]}."
        more = f" It saved {len(self.runs)} profiles, and this is the last." if len(self.runs) > 1 else ""
        return f"{_THEIRS}: it is in {self.runs[-1]}.{more}"


_NOTHING_SAVED = (
    "The profiled code started a profiler of its own, which had saved nothing when the capture ended: what was "
    "recorded before is all that there is. For that profiler's own, end it in the profiled code."
)
_THEIRS = (
    "The profiled code ran a profiler of its own (tf.profiler.experimental, or a TensorBoard callback with "
    "profile_batch). Only one can run at a time, so ours ended when that one started, and this is that one's profile"
)


def _foreign_session(others: ForeignProfilers) -> Any:
    class ProfilerSession(session_class()):  # type: ignore[misc]
        """Another profiler's session."""

        def start(self, logdir: str, options: Any) -> None:
            # The TensorBoard callback starts a profiler without a folder beforehand, to warm it up, and drops it.
            self._logdir = logdir
            if logdir:
                others.starts()
                super().start(logdir, options)
                begin_marks_again()

        def export_to_tb(self) -> None:
            if self._logdir:
                close_marks()
                super().export_to_tb()
                others.saved(Path(self._logdir))

    return ProfilerSession
