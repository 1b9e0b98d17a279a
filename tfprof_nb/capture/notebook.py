"""The notebook that a capture runs in: the labels of its cells, and the end of the running cell."""

from __future__ import annotations

import linecache
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.formats.sidecar import CellsSection


@contextmanager
def notebook_cells() -> Iterator[Gather]:
    """Collect the labels of the notebook's cells, as ``In[3]``, by the file's name; none outside IPython."""
    yield _cells


def _cells() -> CellsSection:
    label = getattr(getattr(_shell(), "compile", None), "format_code_name", None)  # IPython 8 has it
    if label is None:
        return {}
    labels = {file: label(file) for file in list(linecache.cache)}
    return {file: found[1] for file, found in labels.items() if found}


@contextmanager
def at_the_cells_end(then: Callable[[], None]) -> Iterator[None]:
    """Call a function when the running cell ends, if it ends before the block does."""
    shell = _shell()
    if shell is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ended(*_: object) -> None:
        then()

    shell.events.register("post_run_cell", ended)
    try:
        yield
    finally:
        shell.events.unregister("post_run_cell", ended)


def _shell() -> Any:
    ipython: Any = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
