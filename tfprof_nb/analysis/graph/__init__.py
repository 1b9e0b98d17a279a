"""The graph that ran, as tfprof's four views: ``graph`` is the result.

A ``model`` of nodes comes from a described graph (``section``), from ``events``, or from ``runs`` of a session;
``views`` and ``tree`` arrange it by ``options``, ``output`` writes it (``pprof`` in that format). ``average`` takes the
average step, ``estimate`` another device; ``advice`` is tfprof's.
"""
