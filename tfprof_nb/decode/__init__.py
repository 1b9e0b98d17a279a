"""Bytes to columns: profile files become `Host` objects of numpy columns.

In: profile files. Out: one `Host` for each. Nothing here knows TensorFlow, analyses or widgets.
"""

from tfprof_nb.decode.host import Host, Line, Plane, Stat
from tfprof_nb.decode.load import load_hosts, load_run
from tfprof_nb.decode.xspace import read_xspace

__all__ = ["Host", "Line", "Plane", "Stat", "load_hosts", "load_run", "read_xspace"]
