"""The place of a run that a capture is still writing."""

from collections.abc import Callable
from pathlib import Path

from tfprof_nb._errors import CaptureError
from tfprof_nb.runs import Run, resolve


class PendingRun:
    """A run that a capture is still writing: `get` raises until the capture has completed it."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._write: Callable[[Path], Path] | None = None
        self._why_not = "This profile is still being captured, or its capture failed: use it after its block ended."

    @property
    def is_complete(self) -> bool:
        """Whether the capture has saved the run."""
        return self._run is not None

    def complete(self, run: Run) -> None:
        """Provide the run that the capture saved."""
        self._run = run

    def fail(self, why: str) -> None:
        """Store the error that `get` raises from now on."""
        self._why_not = why

    def keep(self, write: Callable[[Path], Path]) -> None:
        """Store how to write the run, which is only in memory, to a folder."""
        self._write = write

    def save(self, logdir: Path) -> None:
        """Write the run to a folder if it is only in memory."""
        if self._write is not None:
            self.complete(resolve(self._write(logdir)))
            self._write = None

    def get(self) -> Run:
        """Return the run.

        Raises
        ------
        CaptureError
            If the capture has not saved it yet, or failed.
        """
        if self._run is None:
            raise CaptureError(self._why_not)
        return self._run
