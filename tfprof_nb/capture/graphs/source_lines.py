"""The lines of code that made the nodes of a graph, which TensorFlow keeps for its error messages."""

import linecache
import sysconfig
from collections.abc import Iterable
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from tfprof_nb.capture.sidecar import Interned
from tfprof_nb.formats.sidecar import FramesTable

_LAYERS = "/keras/src/layers/"
_MAX_SOURCE = 200_000  # characters
# What called the magics runs for as long as the cell that they profile.
MAGICS = str(Path(__file__).parents[2] / "notebook")


class Origin(NamedTuple):
    """Where a node was made.

    Attributes
    ----------
    trace
        The number of its trace.
    files
        The files in its whole traceback.
    by_keras
        Whether a layer of Keras made it, which the innermost line of the user's only called.
    """

    trace: int
    files: frozenset[str]
    by_keras: bool


class Frame(NamedTuple):
    """One line of code that was running when a node was made."""

    file: str
    line: int
    function: str


Trace = tuple[int, ...]
"""Numbers of the user's frames, innermost first."""


class SourceLines:
    """Tracebacks of nodes, without the frames of libraries."""

    def __init__(self) -> None:
        self.frames = Interned[Frame]()
        self.traces = Interned[Trace]()
        self.none = Origin(self.traces.number(()), frozenset(), by_keras=False)

    def of_function(self, name: str) -> dict[str, Origin]:
        """Return where each node of a function was made."""
        return self._described(_debug_info(name))

    def of_operations(self, operations: Iterable[Any]) -> dict[str, Origin]:
        """Return where each operation of a `tf.Graph` was made."""
        from tensorflow.python.util import tf_stack

        builder = tf_stack.GraphDebugInfoBuilder()
        for operation in operations:
            if operation.traceback is not None:
                builder.AccumulateStackTrace("", operation.name, operation.traceback)
        return self._described(_parsed(builder.Build()))

    def _described(self, info: Any) -> dict[str, Origin]:
        frames = {key: Frame(info.files[at.file_index], at.line, at.func) for key, at in info.frames_by_id.items()}
        traces = {key: [frames[i] for i in trace.frame_id] for key, trace in info.traces_by_id.items()}
        described = {
            key: Origin(self._trace(trace), frozenset(frame.file for frame in trace), _made_by_keras(trace))
            for key, trace in traces.items()
        }
        return {node.split("@")[0]: described[key] for node, key in info.name_to_trace_id.items()}

    def _trace(self, frames: list[Frame]) -> int:
        of_cell = takewhile(lambda frame: not frame.file.startswith(MAGICS), reversed(frames))
        own = [frame for frame in of_cell if is_users(frame.file)]
        return self.traces.number(tuple(self.frames.numbers(own)))

    def columns(self, strings: Interned[str]) -> FramesTable:
        """Return the frames as columns, with texts as numbers in ``strings``."""
        frames = self.frames.values()
        return FramesTable(
            file=strings.numbers(frame.file for frame in frames),
            line=[frame.line for frame in frames],
            function=strings.numbers(frame.function for frame in frames),
            text=strings.numbers(linecache.getline(frame.file, frame.line).strip() for frame in frames),
            users=[is_users(frame.file) for frame in frames],
        )


def texts_of(files: Iterable[str]) -> dict[str, str]:
    """Return the texts of the user's files among some, but of very long ones."""
    texts = {file: "".join(linecache.getlines(file)) for file in sorted({*files}) if is_users(file)}
    return {file: text for file, text in texts.items() if 0 < len(text) <= _MAX_SOURCE}


def _made_by_keras(frames: list[Frame]) -> bool:
    inside = takewhile(lambda frame: not is_users(frame.file), reversed(frames))
    return any(_LAYERS in frame.file for frame in inside)


def _debug_info(name: str) -> Any:
    from tensorflow.python.eager import context

    return _parsed(context.context().get_graph_debug_info(name))


def _parsed(info: Any) -> Any:
    from tensorflow.core.framework import graph_debug_info_pb2

    return graph_debug_info_pb2.GraphDebugInfo.FromString(info) if isinstance(info, bytes) else info


@cache
def is_users(file: str) -> bool:
    """Whether a file holds the user's code, not that of Python, of an installed package or of this package."""
    folders = file.replace("\\", "/").split("/")
    if folders[-1].startswith("__autograph_generated_file"):
        return False
    if "site-packages" in folders or "dist-packages" in folders or file.startswith("<frozen"):
        return False
    return not any(file.startswith(library) for library in _libraries())


@cache
def _libraries() -> tuple[str, ...]:
    package = str(Path(__file__).parents[2])
    return (sysconfig.get_path("stdlib") + "/", sysconfig.get_path("platstdlib") + "/", package + "/")
