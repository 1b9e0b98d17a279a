"""What the files of one run hold, decoded: the input of every analysis."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.metrics import sampled
from tfprof_nb.analysis.steps.groups import Grouping, group_events
from tfprof_nb.decode import load_run
from tfprof_nb.decode.redaction import redacted, without_paths
from tfprof_nb.decode.sections.capture import read_stopped
from tfprof_nb.decode.sections.cell import Cell, read_cell, read_labels
from tfprof_nb.decode.sections.graphs import Graphs, read_graphs
from tfprof_nb.decode.sections.python import PythonStacks, read_python
from tfprof_nb.decode.sections.versions import Gpus, read_gpus
from tfprof_nb.decode.sidecar import Sidecar, read_sidecar
from tfprof_nb.formats.sidecar import Section, Stopped
from tfprof_nb.render.progress import progress_line
from tfprof_nb.runs import Run
from tfprof_nb.storage import fetch

LARGE_BYTES = 50_000_000


class RunData:
    """A run's profiles and sidecars. Each part is decoded on first use and kept; lists have one item per host.

    Attributes
    ----------
    run
        The run; once the profiles are decoded, without the files that cannot be read.
    redact
        Whether to leave out the program's text and the paths of files.
    """

    def __init__(self, run: Run, *, redact: bool = False) -> None:
        self.run, self.redact = run, redact

    @cached_property
    def forests(self) -> list[Forest]:
        """The events."""
        if self.run.stored:
            with progress_line() as show:
                fetch(self.run.stored, show)
        self.run, hosts = load_run(self.run)
        return [Forest(host) for host in hosts]

    @cached_property
    def groupings(self) -> list[Grouping]:
        """The group that each event belongs to: its step, where there are steps."""
        return [group_events(forest) for forest in self.forests]

    @cached_property
    def sidecars(self) -> list[Sidecar]:
        """What the capture wrote beside the profiles."""
        _ = self.forests  # which tell the files that can be read
        if self.run.parts:  # runs on one common timeline: samples of single runs have no place there
            return [Sidecar()]
        found = [read_sidecar(file) for file in self.run.files]
        return [redacted(sidecar) for sidecar in found] if self.redact else found

    @cached_property
    def stopped(self) -> list[Stopped]:
        """Why and when recordings were ended because of the memory that they took."""
        found = [sidecar.read(Section.CAPTURE, read_stopped) for sidecar in self.sidecars]
        return [stopped for stopped in found if stopped]

    @cached_property
    def graphs(self) -> list[Graphs]:
        """The functions that ran, if the capture described them."""
        return [sidecar.read(Section.GRAPHS, read_graphs) for sidecar in self.sidecars]

    @cached_property
    def cells(self) -> list[Cell]:
        """The profiled cell: its text, and how long its lines took."""
        return [sidecar.read(Section.CELL, read_cell) for sidecar in self.sidecars]

    @cached_property
    def gpus(self) -> list[Gpus]:
        """The GPUs that could be used."""
        return [sidecar.read(Section.VERSIONS, read_gpus) for sidecar in self.sidecars]

    @cached_property
    def labels(self) -> list[dict[str, str]]:
        """What other cells are called, by the file names that they were compiled as."""
        return [sidecar.read(Section.CELLS, read_labels) for sidecar in self.sidecars]

    @property
    def names_of_files(self) -> dict[str, str]:
        """What the profiled cell and other cells are called, by the files that they were compiled as."""
        labels = {file: label for labels in self.labels for file, label in labels.items()}
        return labels | {cell.file: "cell" for cell in self.cells if cell.file}

    @property
    def texts(self) -> dict[str, str]:
        """The text of the program, by the names that results have for its files."""
        names = self.names_of_files
        texts = {names.get(file, file): text for stacks in self.stacks for file, text in stacks.sources.items()}
        return texts | {"cell": next((cell.text for cell in self.cells if cell.text), "")}

    @cached_property
    def stacks(self) -> list[PythonStacks]:
        """Samples of Python's stacks."""
        return [sidecar.read(Section.PYTHON, read_python) for sidecar in self.sidecars]

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """Samples of the machine: ``time_ms host metric value unit``."""
        return self._samples(Section.METRICS)

    @cached_property
    def process_memory(self) -> pd.DataFrame:
        """Samples of the process' memory, with the columns of `metrics`."""
        return self._samples(Section.PROCESS_MEMORY)

    def _samples(self, section: str) -> pd.DataFrame:
        return sampled([forest.host for forest in self.forests], self.sidecars, section)

    def _size_notes(self) -> list[str]:
        """Say how to record less, if this is a large capture of ours."""
        size = sum(file.stat().st_size for file in self.run.files)
        if size < LARGE_BYTES or not self.has_lines:
            return []
        less = "`%%tfprofile --warmup 2 --steps 10` records ten steps only."
        return [f"This profile has {_units.size(size)}, which takes long to save and to read. {less}"]

    @property
    def has_lines(self) -> bool:
        """Whether the capture recorded anything from which lines of code can be told."""
        return any(sidecar.sections for sidecar in self.sidecars)

    @property
    def notes(self) -> list[str]:
        """What was left out or noted, and which sections are damaged: all sections are read for that."""
        _ = self.graphs, self.cells, self.labels, self.stacks, self.metrics, self.process_memory
        captures = [note for sidecar in self.sidecars for note in sidecar.notes]
        hosts = dict.fromkeys(note for forest in self.forests for note in forest.host.notes)
        notes = [*self.run.notes, *captures, *self._size_notes(), *hosts]
        return [without_paths(note) for note in notes] if self.redact else notes
