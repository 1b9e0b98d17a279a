"""A profile for other tools.

``sql`` (DuckDB), ``xprof`` (the installed XProf), ``chrome_trace`` (Perfetto), ``tfprof_output`` (what tfprof writes of
a graph, ``pprof`` among it).
"""
