"""Profilers that the profiled code starts itself: ours ends before they start, and their profiles are found.

``tf.profiler.experimental.start`` and ``.Profile``, the ``TensorBoard`` callback of Keras 3 and of ``tf_keras``, and
``tf.summary.trace_on`` all use one class of sessions, which is replaced while a capture runs.
"""

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
    """Lets foreign profilers start while the ``with`` block runs.

    Parameters
    ----------
    give_way
        Called before a foreign profiler starts: it ends ours, and returns whether that cuts our capture short.

    Attributes
    ----------
    cut_short
        Whether a foreign profiler cut our capture short.
    runs
        The run folders that foreign profilers saved.
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
        """Make way for a foreign profiler that is about to start."""
        self.cut_short = self._give_way() or self.cut_short

    def saved(self, logdir: Path) -> None:
        """Remember the profile that a foreign profiler saved: the newest in its logdir."""
        files = sorted(logdir.glob(_PROFILES), key=lambda file: file.stat().st_mtime_ns)
        if files:
            self.runs.append(files[-1].parent.absolute())

    def note(self) -> str:
        """Return a note that says whose profile this is, if a foreign profiler started."""
        if not self.runs:
            return _NOTHING_SAVED if self.cut_short else ""
        if not self.cut_short:
            return f"The profiled code also ran a profiler of its own. Its profile is in {self.runs[-1]}."
        more = f" It saved {len(self.runs)} profiles; this is the last." if len(self.runs) > 1 else ""
        return f"{_THEIRS}, from {self.runs[-1]}.{more}"


_NOTHING_SAVED = (
    "The profiled code started a profiler of its own, which had saved nothing when the capture ended. This profile "
    "shows what ran before that profiler started. To get its profile too, stop it in the profiled code."
)
_THEIRS = (
    "The profiled code ran a profiler of its own (tf.profiler.experimental, or a TensorBoard callback with "
    "profile_batch). Only one profiler can run at a time, so ours ended when that one started. This is its profile"
)


def _foreign_session(profilers: ForeignProfilers) -> Any:
    class ProfilerSession(session_class()):  # type: ignore[misc]
        """A foreign profiler's session."""

        def start(self, logdir: str, options: Any) -> None:
            # The TensorBoard callback first starts a profiler without a folder, to warm it up, and drops it.
            self._logdir = logdir
            if logdir:
                profilers.starts()
                super().start(logdir, options)
                begin_marks_again()

        def export_to_tb(self) -> None:
            if self._logdir:
                close_marks()
                super().export_to_tb()
                profilers.saved(Path(self._logdir))

    return ProfilerSession
