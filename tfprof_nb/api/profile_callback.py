"""``ProfileCallback`` captures some batches of a Keras fit. Importing this module imports Keras."""

from __future__ import annotations

import os
import warnings
from contextlib import ExitStack
from typing import Any

from tfprof_nb._errors import CaptureActiveError, CaptureError, MissingDependencyError, TfprofError
from tfprof_nb.api.session import Capture, running
from tfprof_nb.capture.keras import announce_batch, end_announcements
from tfprof_nb.capture.notebook import at_the_cells_end
from tfprof_nb.profiles import Profile

try:
    import keras
except ModuleNotFoundError as error:
    raise MissingDependencyError('ProfileCallback needs Keras: pip install "tfprof_nb[tensorflow]".') from error

Batches = int | str | tuple[int, int] | list[int]


_saving: list[ProfileCallback] = []  # the callback whose capture has recorded but not finished: one at most


class ProfileCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Capture a profile of some batches of a ``fit``.

    Inside a running capture (``%%tfprofile``), the callback limits that capture to its batches. If an error ends the
    fit, the profile up to the error is kept; the capture then ends with the notebook cell, or when `profile` is read.

    Parameters
    ----------
    batches
        Which batches, counted from 1 over all epochs of a fit, as the TensorBoard callback's ``profile_batch``:
        ``15`` is the fifteenth; ``(500, 520)`` or ``"500,520"`` are the 500th to the 520th; 0 is none.
        With ``steps_per_execution`` Keras runs several batches at once, and they count as one. The steps of the
        profile have these numbers, and their epoch.
    name, logdir
        As for `profile`.

    Raises
    ------
    ValueError
        If ``batches`` has another form.

    Examples
    --------
    >>> import numpy as np, keras
    >>> model = keras.Sequential([keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> third = ProfileCallback(batches=3)
    >>> _ = model.fit(np.zeros((8, 2)), np.zeros((8, 1)), batch_size=2, verbose=0, callbacks=[third])
    >>> len(third.profile.steps.table)
    1
    """

    def __init__(
        self, batches: Batches = (10, 20), *, name: str | None = None, logdir: str | os.PathLike[str] | None = None
    ) -> None:
        super().__init__()
        self._first, self._last = _first_and_last(batches)
        self._name, self._logdir = name, logdir
        self._seen = self._epoch = 0
        self._capture: Capture | None = None
        self._recording = self._ours = False
        self._until_finished = ExitStack()
        self._missing = "Nothing was captured yet: give this callback to model.fit."

    @property
    def profile(self) -> Profile:
        """The profile of the newest fit.

        Raises
        ------
        CaptureError
            If there is none; the message says why.
        """
        self._finish()
        if self._capture is None:
            raise CaptureError(self._missing)
        return self._capture.profile

    def on_train_begin(self, logs: Any = None) -> None:  # noqa: ARG002, D102  (Keras calls it, like all below)
        self._finish()  # of a fit that an error ended
        self._seen, self._epoch, self._capture = 0, 0, None
        self._missing = "Nothing was captured: batches=0 asks for none."
        self._begin_before_first()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002, D102
        self._end_after_last()  # not at the batch's own end, where its step is not over
        self._seen += 1

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002, D102
        self._epoch = epoch
        self._announce()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002, D102
        self._announce()
        self._begin_before_first()

    def on_test_begin(self, logs: Any = None) -> None:  # noqa: ARG002, D102
        self._end_after_last()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002, D102
        self._end_after_last()

    def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002, D102
        self._finish()
        end_announcements(self.model)
        if 0 < self._seen < self._first:
            self._missing = (
                f"Nothing was captured: the fit ended after {self._seen} batches, before batch "
                f"{self._first}, the first to capture. Choose earlier ones: ProfileCallback(batches=...)."
            )
            warnings.warn(self._missing, stacklevel=2)

    def _announce(self) -> None:
        """Say which batch is next, if it is one of those to capture."""
        if self._first <= self._seen + 1 <= self._last:
            announce_batch(self.model, self._seen + 1, self._epoch)
        elif self._seen == self._last:
            end_announcements(self.model)

    def _begin_before_first(self) -> None:
        if self._seen != self._first - 1:
            return
        try:
            self._begin()
        except TfprofError as error:  # training goes on without a profile
            self._missing = f"Batches {self._first} to {self._last} were not captured. {error}"
            warnings.warn(self._missing, stacklevel=3)

    def _begin(self) -> None:
        if _saving:
            _saving[-1]._finish()  # noqa: SLF001  (another callback's batches came before these)
        around = running()
        if around is not None and around.limited:
            raise CaptureActiveError(
                "The running capture is limited to the batches of another ProfileCallback, and only one capture can "
                "run at a time: choose batches that do not overlap, and use one such callback in a %%tfprofile cell."
            )
        if around is None:
            capture = Capture(self._name, logdir=self._logdir)
            capture.start()
            self._until_finished.enter_context(at_the_cells_end(self._finish))  # Keras tells nobody of an error
        else:
            capture = around
            capture.begin_anew(
                f"A ProfileCallback limited this capture to batches {self._first} to {self._last} of model.fit."
            )
        capture.limited = True
        self._capture, self._ours, self._recording = capture, around is None, True

    def _end_after_last(self) -> None:
        if self._recording and self._seen >= self._last:
            self._end()

    def _end(self) -> None:
        if self._capture is not None:
            self._capture.end()
        self._recording = False
        if self._ours:
            _saving.append(self)

    def _finish(self) -> None:
        """End the recording, and wait until it is saved."""
        if self._recording:
            self._end()
        if self._capture is not None and self._ours:
            self._ours = False
            _saving.remove(self)
            self._until_finished.close()
            try:
                self._capture.finish()
            except TfprofError as error:  # the fit went well, and must return
                self._capture, self._missing = None, str(error)
                warnings.warn(self._missing, stacklevel=2)


def _first_and_last(batches: Batches) -> tuple[int, int]:
    """Return the first and last batch; ``batches`` is written as the TensorBoard callback's ``profile_batch``."""
    try:
        if isinstance(batches, int | str) and not isinstance(batches, bool):
            numbers = [int(number) for number in str(batches).split(",")]
        else:
            numbers = [int(number) for number in batches]  # type: ignore[union-attr]
        first, last = numbers if len(numbers) > 1 else numbers * 2
    except (TypeError, ValueError):
        first, last = -1, -1
    if not 0 <= first <= last or (first == 0 < last):
        raise ValueError(
            f"batches must be the number of a batch, counted from 1, or the first and the last number: 15, (10, 20) or "
            f"'10,20'; 0 captures none. It is {batches!r}."
        )
    return first, last
