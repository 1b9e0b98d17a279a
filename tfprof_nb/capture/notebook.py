"""The notebook that a capture runs in: its cells, and the end of the running cell."""

import ast
import difflib
import linecache
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfprof_nb.capture.graphs.source_lines import texts_of
from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.formats.sidecar import CellsSection, CellTextsSection

# What advice may have to speak of: cells that do not name it are not recorded for their own sake.
_OF_TENSORFLOW = re.compile(
    r"\b(?:tf|tensorflow|keras|K|layers|pad_sequences|PyDataset|Sequence)\b|\.(?:batch|compile|fit|map)\("
)
_MAGIC = re.compile(r"^%%.*\n")
_RUN_MAGIC = re.compile(r"get_ipython\(\)\.run_cell_magic\(")
_ALIKE = 0.8


@contextmanager
def notebook_cells() -> Iterator[Gather]:
    """Collect the labels of the notebook's cells, as ``In[3]``, by the file's name; none outside IPython."""
    yield _cells


@contextmanager
def cell_texts(running: str) -> Iterator[Gather]:
    """Collect the texts of the cells that set up models and data, by the file's name; none outside IPython.

    ``running`` is the text of the profiled cell, which is recorded elsewhere; empty if there is none.
    """
    yield lambda: _texts(_MAGIC.sub("", running))


def _cells() -> CellsSection:
    label = getattr(getattr(_shell(), "compile", None), "format_code_name", None)  # IPython 8 has it
    if label is None:
        return {}
    labels = {file: label(file) for file in list(linecache.cache)}
    # What a front end runs on its own has the number of the cell that follows: that is the newer one. A magic's call
    # has the number of the cell below the magic.
    cells = {file: found[1] for file, found in labels.items() if found and not _calls_magic(file)}
    newest = {name: file for file, name in cells.items()}
    return {file: name for name, file in newest.items()}


def _calls_magic(file: str) -> bool:
    return _RUN_MAGIC.match(linecache.getline(file, 1)) is not None


def _texts(running: str) -> CellTextsSection:
    kept: CellTextsSection = {}
    newer = [(running, _defined(running))]
    texts = texts_of(_cells())
    for file in reversed(list(linecache.cache)):  # cells stand there in the order of their first run
        text = texts.get(file, "")
        if not _OF_TENSORFLOW.search(text) or _RUN_MAGIC.match(text):
            continue
        names = _defined(text)
        if not any(_replaces(later, names, text) for later in newer):
            kept[file] = text
        newer.append((text, names))
    return kept


def _defined(text: str) -> set[str]:
    """Return the names that a cell gives to values, functions and classes."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    assigned = {
        target.id
        for statement in statements
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    return assigned | {one.name for one in statements if isinstance(one, ast.FunctionDef | ast.ClassDef)}


def _replaces(newer: tuple[str, set[str]], names: set[str], text: str) -> bool:
    """Whether a newer cell gives all names of a cell anew, or is nearly the same: the older one was edited."""
    newer_text, newer_names = newer
    if names and names <= newer_names:
        return True
    alike = difflib.SequenceMatcher(None, newer_text, text, autojunk=False)
    return alike.real_quick_ratio() >= _ALIKE and alike.quick_ratio() >= _ALIKE


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
