"""Draw batches and time them, on a thread of its own: an interrupt and the end of the time are then seen at once."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

FEWEST = 5
_LONGER = 4.0
_END = object()
_POLL_S = 0.05
_ENDS_WITHIN_S = 2.0  # after an interrupt: a batch that takes longer ends by itself later


@dataclass(frozen=True)
class Plan:
    """How long to draw.

    Attributes
    ----------
    seconds
        The time of a run. It takes longer where fewer than `FEWEST` batches were counted, up to `_LONGER` times.
    warm_up
        How much of it, after the first batch, is not counted.
    batches
        At most so many are counted.
    patience
        A run that takes so many seconds longer is given up.
    step
        Seconds between batches, in which a model would work; the time to wait is then what is measured.
    """

    seconds: float
    warm_up: float = 0.0
    batches: int = 1_000_000
    patience: float = 60.0
    step: float = 0.0


@dataclass
class Draws:
    """What a run drew: ``first_s`` has the wait for the first batch of each pass, the others are counted apart."""

    first_s: list[float] = field(default_factory=list)
    batches: int = 0
    seconds: float = 0.0
    drawn: int = 0
    error: BaseException | None = None
    given_up: bool = False

    @property
    def batch_s(self) -> float:
        """Seconds per batch; that of the first ones if each pass has a single batch, NaN without any."""
        if self.batches:
            return self.seconds / self.batches
        return sum(self.first_s) / len(self.first_s) if self.first_s else float("nan")


def drawn(make: Callable[[], Iterator[Any]], plan: Plan) -> Draws:
    """Draw batches of iterators that ``make`` returns, one per pass.

    An error of the pipeline is kept in the result, with what was drawn before.
    """
    told, stop = Draws(), threading.Event()
    thread = threading.Thread(target=_kept, args=(make, plan, told, stop), daemon=True, name="tfprof_nb draws batches")
    begun = time.perf_counter()
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_POLL_S)
            if time.perf_counter() - begun > plan.seconds + plan.patience:
                told.given_up = True
                break
    except BaseException:
        stop.set()
        thread.join(_ENDS_WITHIN_S)
        raise
    stop.set()
    return told


def _kept(make: Callable[[], Iterator[Any]], plan: Plan, told: Draws, stop: threading.Event) -> None:
    try:
        _draw(make, plan, told, stop)
    except Exception as error:  # noqa: BLE001 - the user's pipeline can raise anything
        told.error = error


def _draw(make: Callable[[], Iterator[Any]], plan: Plan, told: Draws, stop: threading.Event) -> None:
    begun, counts_from = time.perf_counter(), None
    while not stop.is_set():
        at = time.perf_counter()
        iterator = make()
        if next(iterator, _END) is _END:
            return
        now = time.perf_counter()
        told.first_s.append(now - at)
        told.drawn += 1
        counts_from = now + plan.warm_up if counts_from is None else counts_from
        while not stop.is_set():
            if plan.step:
                time.sleep(plan.step)
            at = time.perf_counter()
            if next(iterator, _END) is _END:
                break
            now = time.perf_counter()
            told.drawn += 1
            if at >= counts_from or now - begun >= plan.seconds:
                told.batches += 1
                told.seconds += now - at
            if told.batches >= plan.batches or (told.batches and now - begun >= _end(plan, told)):
                return
        if time.perf_counter() - begun >= _end(plan, told):
            return


def _end(plan: Plan, told: Draws) -> float:
    """Return after how many seconds a run ends."""
    return plan.seconds * (1 if told.batches >= min(FEWEST, plan.batches) else _LONGER)
