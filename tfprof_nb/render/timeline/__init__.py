"""Timelines: ``widget`` in a notebook, ``html`` in a report."""
