"""``experiment``: which of two programs is faster, from runs in turn without a profiler."""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from tfprof_nb._errors import TfprofError
from tfprof_nb.analysis.compare.compare import Comparison
from tfprof_nb.analysis.compare.experiment import Run
from tfprof_nb.analysis.compare.experiment import experiment as compared_runs
from tfprof_nb.capture.machine_load import timed
from tfprof_nb.decode.sections.machine import read_other_load
from tfprof_nb.render.content import Content
from tfprof_nb.render.progress import progress_line
from tfprof_nb.views import compare as view

_PROGRAMS = 2


def experiment(programs: Mapping[str, Callable[[], object]], rounds: int = 5, *, warmup: int = 1) -> Comparison:
    """Run two programs in turn, without a profiler, and compare their times.

    Each round runs both, every other round in the opposite order, so that a machine that becomes slower or faster
    disturbs both alike. The programs run as they are: what they change, such as the weights of a model, stays changed.

    Parameters
    ----------
    programs
        Two functions without arguments by name, the one to compare with first: ``{"before": f, "after": g}``. Both must
        do the same amount of work.
    rounds
        How often each runs. Statistics need 5 rounds; fewer tell only large differences.
    warmup
        How often each runs before that, unmeasured: first calls trace functions and fill caches.

    Returns
    -------
    Comparison
        ``summary`` has ``speedup`` (the median of the rounds' ratios), ``speedup_low`` and ``speedup_high`` (its 95%
        interval), ``p_value`` (the paired t test of the rounds), ``verdict``, ``before_ms`` and ``after_ms`` (medians);
        ``runs`` has the time of each run.

    Raises
    ------
    TfprofError
        If these are not two functions, or a number is too small. Errors of the programs propagate.

    Notes
    -----
    If an interrupt (Ctrl+C, the kernel's stop button) ends it after the first round, the rounds up to there are
    compared, with a note.

    Examples
    --------
    >>> import time
    >>> import tfprof_nb as tp
    >>> found = tp.experiment({"before": lambda: time.sleep(0.02), "after": lambda: time.sleep(0.002)}, rounds=5)
    >>> found.summary["verdict"]
    'faster'
    """
    _check(programs, rounds, warmup)
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    note = ""
    with progress_line() as show:
        try:
            show("Warm-up")
            for _, program in product(range(warmup), programs.values()):
                program()
            for number in range(rounds):
                show(f"Round {number + 1} of {rounds}")
                _round(programs, runs, backwards=number % 2 == 1)
        except KeyboardInterrupt:
            whole = min(map(len, runs.values()))
            if not whole:
                raise
            note = f"An interrupt ended the experiment after {whole} of {rounds} rounds."
            runs = {name: taken[:whole] for name, taken in runs.items()}
    found = compared_runs(runs)
    found.notes[:0] = [note] if note else []
    title = " · ".join(f"{label}: {name}" for label, name in zip(("before", "after"), programs, strict=True))
    return found.shown_by(lambda: Content(title, view.panels(found)))


def _check(programs: Any, rounds: int, warmup: int) -> None:
    if not isinstance(programs, Mapping) or len(programs) != _PROGRAMS or not all(map(callable, programs.values())):
        raise TfprofError('Give two functions by name, such as {"before": f, "after": g}.')
    if rounds < 1 or warmup < 0:
        raise TfprofError("The number of rounds must be at least 1, that of warm-up runs at least 0.")


def _round(programs: Mapping[str, Callable[[], object]], runs: dict[str, list[Run]], *, backwards: bool) -> None:
    order = list(programs.items())
    for name, program in reversed(order) if backwards else order:
        seconds, load = timed(program)
        runs[name].append(Run(seconds, read_other_load(load)))
