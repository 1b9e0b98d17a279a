"""The sidecar, the file that a capture writes beside a profile: its version, its sections, and what they hold.

It is a JSON object; ``docs/sidecar.md`` says what the keys mean.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NotRequired, TypedDict

VERSION = 1


class Section(StrEnum):
    """The keys of a sidecar."""

    CAPTURE = "capture"
    VERSIONS = "versions"
    GRAPHS = "graphs"
    CELL = "cell"
    CELLS = "cells"
    CELL_TEXTS = "cell_texts"
    PROCESS_MEMORY = "process_memory"
    METRICS = "metrics"
    PYTHON = "python"
    MACHINE_LOAD = "machine_load"
    NAMES = "names"


class CaptureSection(TypedDict):
    """The capture itself."""

    notes: list[str]
    stopped: NotRequired[Stopped]


class Stopped(TypedDict):
    """The capture ended its recording because the events took too much memory."""

    why: str
    seconds: float


SHORT_OF_MEMORY, TOO_LARGE = "memory", "size"  # values of ``why``


class VersionsSection(TypedDict):
    """What ran, and the GPUs that it could use."""

    tensorflow: str
    visible_gpus: NotRequired[int]
    has_nvidia_gpu: NotRequired[bool]


class MachineLoadSection(TypedDict, total=False):
    """How busy the processors were while the capture recorded, or nothing."""

    seconds: float
    processors: int
    busy_s: float
    own_s: float


class CellSection(TypedDict):
    """The cell that ran."""

    text: str
    file: str
    line: list[int]
    hits: list[int]
    spent_ns: list[int]
    estimated: list[int]
    first: int
    last: int
    began_ns: NotRequired[int]
    ended_ns: NotRequired[int]


CellsSection = dict[str, str]
"""The notebook's cells: labels by the name of the compiled file."""

CellTextsSection = dict[str, str]
"""The cells that set up models and data: texts by the name of the compiled file."""


class PythonSection(TypedDict, total=False):
    """Samples of Python's stacks, or nothing."""

    interval_ns: int
    strings: list[str]
    functions: FunctionsTable
    places: PlacesTable
    stacks: list[list[int]]
    samples: StackSamples
    sources: dict[str, str]


class FunctionsTable(TypedDict):
    """Python functions."""

    name: list[int]
    file: list[int]
    users: list[bool]


class PlacesTable(TypedDict):
    """Lines of functions."""

    function: list[int]
    line: list[int]


class StackSamples(TypedDict):
    """One entry per sample."""

    time_ns: list[int]
    thread: list[int]
    stack: list[int]
    late_ns: NotRequired[list[int]]


class NamesSection(TypedDict):
    """What names of the code stand for: when the recording began, and those that differ when it ended.

    ``main`` is the file of the profiled code's own namespace, whose names have it as their ``file``.
    """

    main: str
    start: list[NameFacts]
    end: list[NameFacts]


class NameFacts(TypedDict):
    """One name, or one with dots, and what kind of object it is; neither its value nor its text."""

    name: str
    file: str
    type: str
    kind: str
    shape: NotRequired[list[int]]
    dtype: NotRequired[str]
    length: NotRequired[int]
    defined_in: NotRequired[str]
    line: NotRequired[int]


class SamplesSection(TypedDict, total=False):
    """Quantities over time, or nothing: the sections `Section.PROCESS_MEMORY` and `Section.METRICS`."""

    times_ns: list[int]
    series: list[Series]


class Series(TypedDict):
    """The values of one quantity."""

    metric: str
    unit: str
    values: list[float | None]


ENDED_NOTE = "The code {how}: this profile shows what ran up to then."
INTERRUPTED_NOTE = ENDED_NOTE.format(how="was interrupted")
RESIDENT_MEMORY, PEAK_MEMORY = "process memory", "peak process memory"  # the quantities of `Section.PROCESS_MEMORY`


class GraphsSection(TypedDict, total=False):
    """The functions that ran, and the tables that they refer to."""

    strings: list[str]
    frames: FramesTable
    traces: list[tuple[int, ...]]
    variables: VariablesTable
    layers: LayersTable
    functions: list[FunctionEntry]
    sources: dict[str, str]
    notes: list[str]


class FramesTable(TypedDict):
    """Lines of code."""

    file: list[int]
    line: list[int]
    function: list[int]
    text: list[int]
    users: list[bool]


class VariablesTable(TypedDict):
    """Variables that functions read."""

    name: list[int]
    dtype: list[int]
    parameters: list[int | None]
    trainable: list[bool]
    model: NotRequired[list[bool]]
    layer: NotRequired[list[int]]


class LayersTable(TypedDict):
    """Keras layers."""

    name: list[int]
    type: list[int]
    frame: NotRequired[list[int]]


SESSION_GRAPH_NAME = "session graph"
"""How the names of graphs begin that sessions ran during a capture."""


class FunctionEntry(TypedDict):
    """One function: its columns have a value per node."""

    name: str
    called: bool
    batch: int | None
    names: list[int]
    ops: list[int]
    devices: list[int]
    outputs: list[int]
    takes: list[int]
    inputs: list[list[int]]
    traces: list[int]
    float_ops: list[float | None]
    calls: list[tuple[int, str, int]]
    # Only of functions, not of a session's graph.
    forward: NotRequired[list[int]]
    layers: NotRequired[list[int]]
    phases: NotRequired[list[int]]
    by_keras: NotRequired[list[int]]
    variables: NotRequired[list[int]]
    python: NotRequired[str]
    signature: NotRequired[list[tuple[str, str, str]]]
    arguments: NotRequired[list[tuple[int, int, int]]]
    given: NotRequired[int | None]
    # Only of a session's graph.
    parameters: NotRequired[list[int]]
    types: NotRequired[list[list[int]]]


SECTIONS = {
    Section.CAPTURE: CaptureSection,
    Section.VERSIONS: VersionsSection,
    Section.GRAPHS: GraphsSection,
    Section.CELL: CellSection,
    Section.CELLS: CellsSection,
    Section.CELL_TEXTS: CellTextsSection,
    Section.PROCESS_MEMORY: SamplesSection,
    Section.METRICS: SamplesSection,
    Section.PYTHON: PythonSection,
    Section.MACHINE_LOAD: MachineLoadSection,
    Section.NAMES: NamesSection,
}
"""What each section holds."""
