"""Bytes to columns: profile files become `Host` objects of numpy columns.

In: profile files. Out: a `Host` for each. Nothing here knows TensorFlow, analyses or widgets.

=====================  ================================================================================================
all formats            ``load`` opens ``files``, ``host`` is what comes out; ``merge`` joins runs of one host
XSpace                 ``xspace`` arranges what ``parts``, ``metadata``, ``events`` and ``stats`` read from the ``wire``
                       (``lanes`` for long messages); ``schema`` has the tags of fields
Chrome traces          ``chrome_trace`` arranges the events of ``chrome_json``, with ``clock``
TensorFlow 1           ``timeline`` and ``run_metadata`` (with ``data_types``) become profiles in ``session_runs``
beside the profile     ``sidecar`` reads the file, ``sections`` parses it
in memory              ``table`` makes hosts of frames
=====================  ================================================================================================
"""

from tfprof_nb.decode.host import Host, Line, Plane, Stat
from tfprof_nb.decode.load import load_hosts, load_run
from tfprof_nb.decode.xspace import read_xspace

__all__ = ["Host", "Line", "Plane", "Stat", "load_hosts", "load_run", "read_xspace"]
