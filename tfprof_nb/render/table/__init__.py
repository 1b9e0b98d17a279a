"""Tables: ``html`` without script, ``text``, ``widget`` in a notebook, ``embedded`` in a report.

``format`` is what all of them share, ``encoding`` what the widget and the report send to the browser's script.
"""
