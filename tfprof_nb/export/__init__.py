"""A profile for other tools: ``sql`` (DuckDB), ``xprof`` (the installed XProf), ``chrome_trace`` (Perfetto)."""
