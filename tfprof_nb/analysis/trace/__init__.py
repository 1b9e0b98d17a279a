"""The trace: events in rows, in the form that the viewer draws.

``trace`` is the result. ``layout`` arranges rows, ``lanes`` stacks what overlaps in a row, ``slices`` merges what is
too small to see, ``encoding`` packs the columns for the browser. ``op_names``, ``device_lines``, ``flows``,
``counters`` and ``totals`` are what the viewer shows of events.
"""
