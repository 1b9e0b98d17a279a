"""What the way in which a program was captured means for what its steps show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest

MANY_EVENTS = 1_000_000
MANY_STEPS = 500


def capture_notes(forests: Sequence[Forest], steps: int) -> list[str]:
    """Say what to know of the steps of a capture.

    Parameters
    ----------
    forests
        Each host's events.
    steps
        How many steps the profile has.

    Returns
    -------
    list of str
        That it is larger than needed, that a step is several batches, that XLA compiled the model; or nothing.
    """
    events = sum(len(forest.host.start_ps) for forest in forests)
    batches = _of_marks(forests, "steps_per_execution")
    notes = []
    if steps and (events > MANY_EVENTS or steps > MANY_STEPS):
        notes.append(
            f"This profile is larger than it needs to be: {events:,} events of {steps:,} steps. A few steps tell as "
            "much and show faster: %%tfprofile --warmup 2 --steps 10, or tfprof_nb.profile(warmup=2, steps=10)."
        )
    if len(batches):
        notes.append(
            f"A step here is one execution of {', '.join(str(number) for number in batches)} batches, as the model was "
            "compiled with steps_per_execution."
        )
    if len(_of_marks(forests, "jit_compile")):
        notes.append(
            "The model was compiled with jit_compile: XLA fuses the ops of a step into a few clusters, so the profile "
            "shows those and not the model's own ops. The times of the steps are not affected."
        )
    return notes


def _of_marks(forests: Sequence[Forest], stat: str) -> Int64:
    """Return the different values of what `capture.keras` writes on the marks of steps."""
    values = [forest.host.ints(stat).values.astype(np.int64) for forest in forests]
    return np.unique(np.concatenate(values)) if values else np.zeros(0, dtype=np.int64)
