"""Timelines: ``widget`` in a notebook, ``embedded`` in a report."""
