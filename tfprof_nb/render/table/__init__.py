"""Tables: ``html`` without script, and ``text``.

``format`` is what all of them share, ``encoding`` what widgets and reports send to the browser's script.
"""
