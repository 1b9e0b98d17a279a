"""Tables: ``html`` without script, ``text``, ``widget`` in a notebook, ``embedded`` in a report."""
