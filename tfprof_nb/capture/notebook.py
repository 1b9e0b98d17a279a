"""The notebook that a capture runs in: which cell each file is that code was compiled as."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfprof_nb.capture.sidecar import Gather


@contextmanager
def notebook_cells() -> Iterator[Gather]:
    """Collect the cells that the notebook has compiled, by the file's name: ``In[3]``; none outside of IPython."""
    yield _cells


def _cells() -> dict[str, str]:
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    label = getattr(getattr(shell, "compile", None), "format_code_name", None)  # IPython 8 has it
    if label is None:
        return {}
    labels = {file: label(file) for file in list(linecache.cache)}
    return {file: found[1] for file, found in labels.items() if found}
