"""What is selected in a view: its charts, tables and trace all follow it.

The selection consists of traits, so that code can observe and set them, too.
"""

from typing import Any

import traitlets


class Selection(traitlets.HasTraits):
    """The selection that all panels of a view share.

    Attributes
    ----------
    selected_step
        The step selected in a chart, or None.
    selected_op
        The op selected in a table or in the trace, or None.
    time_range
        Start and end of what the trace shows, in picoseconds from the start of the profile; None for everything.
        Selecting a step sets it to the time of that step.
    followed
        The link followed last, as ``{"page", "op", "range"}``; the trace selects its event.
    """

    selected_step = traitlets.Int(None, allow_none=True)
    selected_op = traitlets.Unicode(None, allow_none=True)
    time_range = traitlets.Any(None, allow_none=True)
    followed: Any = traitlets.Dict(None, allow_none=True)

    @traitlets.validate("time_range")
    def _two_times(self, proposal: Any) -> tuple[int, int] | None:
        if proposal["value"] is None:
            return None
        start, end = (int(time) for time in proposal["value"])
        if end < start:
            raise traitlets.TraitError(f"time_range ends at {end} ps, before its start at {start} ps.")
        return start, end
