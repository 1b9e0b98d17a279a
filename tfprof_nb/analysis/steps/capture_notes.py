"""Notes on how a program was captured, as far as that matters for its steps."""

from collections.abc import Sequence

import numpy as np

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.formats.marks import JIT_COMPILE, STEPS_PER_EXECUTION
from tfprof_nb.formats.sidecar import SHORT_OF_MEMORY, Stopped

# A profile with more than these is larger than needed.
MAX_EVENTS = 1_000_000
MAX_STEPS = 500
_OF_MARKS = (STEPS_PER_EXECUTION, JIT_COMPILE)


def capture_notes(forests: Sequence[Forest], steps: int, *, stopped: bool = False) -> list[str]:
    """Return what is special about the steps of a capture.

    Parameters
    ----------
    forests
        Each host's events.
    steps
        How many steps have recorded ops.
    stopped
        Whether recording ended because of the memory that it took: `stopped_notes` then say how to record less.

    Returns
    -------
    list of str
        Notes on a profile that is larger than needed, on steps of several batches, on a model compiled by XLA.
    """
    events = sum(forest.host.recorded_events for forest in forests)
    batches = _of_marks(forests, STEPS_PER_EXECUTION)
    notes = []
    if steps and not stopped and (events > MAX_EVENTS or steps > MAX_STEPS):
        notes.append(
            f"This profile is larger than needed: {events:,} events in {steps:,} steps. A few steps tell as much and "
            "are faster to show: %%tfprofile --warmup 2 --steps 10, or tfprof_nb.profile(warmup=2, steps=10)."
        )
    if len(batches):
        notes.append(
            f"A step here is one execution of {', '.join(map(str, batches))} batches, because the model was compiled "
            "with steps_per_execution."
        )
    if len(_of_marks(forests, JIT_COMPILE)):
        notes.append(
            "The model was compiled with jit_compile: XLA fuses the ops of a step into a few clusters, and the profile "
            "shows these instead of the model's own ops. Step times are not affected."
        )
    return notes


def stopped_notes(stopped: Sequence[Stopped], steps: int, *, marked: bool) -> list[str]:
    """Return notes on recordings that were ended because of the memory that they took.

    Parameters
    ----------
    stopped
        Why and when, of each such host.
    steps
        How many steps the profile has.
    marked
        Whether they are marked, so that ``--steps`` counts them.
    """
    return [_stopped_note(one["why"], one["seconds"], steps, marked=marked) for one in stopped]


def _stopped_note(why: str, seconds: float, steps: int, *, marked: bool) -> str:
    grown = "when its events took the most memory that they may"
    reason = "before the memory ran short" if why == SHORT_OF_MEMORY else grown
    has = f"the {steps:,} {'step' if steps == 1 else 'steps'} until then" if steps else "no steps"
    half = float(f"{max(seconds / 2, 0.1):.2g}")
    fits = f"--steps {steps} fits" if steps and marked else f"--max-seconds {half:g} fits"
    enough = ", --warmup 2 --steps 10 is usually enough" if steps and marked else ""
    return (
        f"Recording ended after {seconds:,.1f} s, {reason}; the program went on. This profile has {has}: {fits} into "
        f"this memory{enough}, and --host-level 1, which leaves out the ops of the host, fits longer runs."
    )


def _of_marks(forests: Sequence[Forest], stat: str) -> Int64:
    """Return the distinct values of a stat that `capture.keras` writes on the marks of steps."""
    values = [forest.once(values_of_marks)[stat] for forest in forests]
    return np.unique(np.concatenate(values)) if values else np.zeros(0, dtype=np.int64)


def values_of_marks(forest: Forest) -> dict[str, Int64]:
    """Return the distinct values of the stats of marks that notes are about, by the stat."""
    return {stat: np.unique(forest.host.ints(stat).values.astype(np.int64)) for stat in _OF_MARKS}
