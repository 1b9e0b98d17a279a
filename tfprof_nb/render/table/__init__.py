"""Tables: ``html`` without script, and ``text``.

``format`` is what these share with widgets and reports, and what those send to the browser's script.
"""
