"""The trace: every event on the track of its thread or stream."""

from tfprof_nb.analysis.trace.trace import Trace
from tfprof_nb.render.panels import Note, Panel, Timeline


def panels(trace: Trace) -> list[Panel]:
    """Show the timeline."""
    if not len(trace.table):
        return [Note(note, "empty") for note in trace.notes]
    return [Timeline("Trace", trace), *(Note(note, "info") for note in trace.notes)]
