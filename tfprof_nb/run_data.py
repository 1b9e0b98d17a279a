"""What the files of one run hold, decoded: the input of every analysis."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import pandas as pd

from tfprof_nb import _units
from tfprof_nb._units import NS_PER_MS, PS_PER_MS
from tfprof_nb.analysis.events.devices import device_type
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.metrics import sampled
from tfprof_nb.analysis.steps.capture_notes import MAX_EVENTS
from tfprof_nb.analysis.steps.groups import Grouping, group_events
from tfprof_nb.decode import load_run
from tfprof_nb.decode.redaction import redacted
from tfprof_nb.decode.sections.cell import Cell, Names, read_cell, read_labels, read_names
from tfprof_nb.decode.sections.graphs import Graphs, read_graphs
from tfprof_nb.decode.sections.machine import Gpus, read_gpus, read_own_cores
from tfprof_nb.decode.sections.python import PythonStacks, read_python
from tfprof_nb.decode.sidecar import Sidecar, read_sidecar, read_stopped
from tfprof_nb.formats.files import SESSION_GRAPH, sidecar_of
from tfprof_nb.formats.sidecar import Section, Stopped
from tfprof_nb.hosts.reading import has_many_hosts, load_reduced
from tfprof_nb.hosts.reduction import ReducedHost
from tfprof_nb.render.progress import progress_line
from tfprof_nb.result_cache import ResultCache
from tfprof_nb.runs import Run
from tfprof_nb.storage import fetch

LARGE_BYTES = 50_000_000
_RUNS_THE_CELL = "get_ipython().run_cell_magic("


@dataclass(frozen=True)
class Extent:
    """How many events a run has, when the last one ended (without events, how long it recorded), and its devices."""

    events: int
    duration_ms: float
    device_type: str


class RunData:
    """A run's profiles and sidecars. Each part is decoded on first use and kept; lists have one item per host.

    Attributes
    ----------
    run
        The run; once the profiles are decoded, without the files that cannot be read.
    redact
        Whether to leave out the program's text and the paths of files.
    cached
        Whether to keep results for the next time that the run is opened.
    client
        The Dask client whose workers read the profiles; None reads them on this machine.
    """

    def __init__(self, run: Run, *, redact: bool = False, cached: bool = True, client: Any = None) -> None:
        self.run, self.redact, self._client = run, redact, client
        self._cached = cached and not redact and client is None

    @cached_property
    def cache(self) -> ResultCache:
        """The results that were computed when the run was opened before."""
        self._fetch()
        run = self.run
        files = [*run.files, *map(sidecar_of, run.files)]
        return ResultCache(files, repr((run.name, run.hosts, run.parts, run.notes)), wanted=self._cached)

    def _fetch(self) -> None:
        """Copy what lies at URLs, but for what the workers of the client fetch themselves.

        What cannot be fetched is left out, with a note.
        """
        elsewhere = set(self.run.files) if self._client is not None else set()
        here = [file for file in self.run.stored if file.copy not in elsewhere]
        if here:
            with progress_line() as show:
                failed = fetch(here, show)
            notes = {copy: f"{copy.name} was left out. {error}" for copy, error in failed.items()}
            gone = {place: notes.pop(file) for place, file in enumerate(self.run.files) if file in notes}
            if gone and len(gone) == len(self.run.files):
                raise failed[self.run.files[0]]
            run = self.run.without(gone)
            self.run = replace(run, notes=(*run.notes, *notes.values()))

    @cached_property
    def forests(self) -> list[Forest]:
        """The events."""
        cache, opened = self.cache, self.run  # the cache notes how the files are before they are read
        if self._client is not None or has_many_hosts(opened):
            self.run, reduced = load_reduced(opened, self._client)
            if self.run != opened:  # files were left out
                cache.off()
            if len(reduced) > 1:
                return cast("list[Forest]", reduced)
        self.run, hosts = load_run(self.run)
        if self.run is not opened and self.run != opened:
            cache.off()
        return [Forest(host) for host in hosts]

    @property
    def reduced(self) -> bool:
        """Whether hosts are so many that only their results are kept: events are read again when they are used."""
        return any(isinstance(forest, ReducedHost) for forest in self.forests)

    @cached_property
    def extent(self) -> Extent:
        """How much there is, which needs no decoding where the run was opened before.

        Raises
        ------
        BadProfileError
            None of the files can be read.
        """
        if found := self.cache.get("extent", Extent):
            return found
        forests = self.forests
        duration_ms = max((forest.end_ps for forest in forests), default=0) / PS_PER_MS
        if not duration_ms:
            duration_ms = max((forest.host.recorded_ns for forest in forests), default=0) / NS_PER_MS
        found = Extent(sum(forest.host.recorded_events for forest in forests), duration_ms, device_type(forests))
        return self.cache.put("extent", found)

    @cached_property
    def groupings(self) -> list[Grouping]:
        """The group that each event belongs to: its step, where there are steps."""
        return [
            forest.grouping if isinstance(forest, ReducedHost) else group_events(forest)
            for forest in cast("list[Forest | ReducedHost]", self.forests)
        ]

    @cached_property
    def sidecars(self) -> list[Sidecar]:
        """What the capture wrote beside the profiles."""
        _ = self.extent  # which tells the files that can be read
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
    def own_cores(self) -> tuple[float, int]:
        """How many processors the program kept busy on the first host, and how many it may use; NaN if unknown."""
        return next((sidecar.read(Section.MACHINE_LOAD, read_own_cores) for sidecar in self.sidecars), (math.nan, 0))

    @cached_property
    def labels(self) -> list[dict[str, str]]:
        """What other cells are called, by the file names that they were compiled as."""
        return [sidecar.read(Section.CELLS, read_labels) for sidecar in self.sidecars]

    @property
    def _cell_texts(self) -> list[dict[str, str]]:
        """The texts of cells that set up models and data, by the file names that they were compiled as."""
        return [sidecar.read(Section.CELL_TEXTS, read_labels) for sidecar in self.sidecars]

    @property
    def names_of_files(self) -> dict[str, str]:
        """What the profiled cell and other cells are called, by the files that they were compiled as."""
        labels = {file: label for labels in self.labels for file, label in labels.items()}
        return labels | {cell.file: "cell" for cell in self.cells if cell.file}

    @property
    def texts(self) -> dict[str, str]:
        """The text of the program, by the names that results have for its files."""
        names = self.names_of_files
        sources: list[Mapping[str, str]] = [
            *(one.sources for one in self.graphs),
            *(one.sources for one in self.stacks),
        ]
        sources = [*self._cell_texts, *sources]
        texts = {names.get(file, file): text for own in sources for file, text in own.items()}
        texts = {name: text for name, text in texts.items() if not text.startswith(_RUNS_THE_CELL)}
        return texts | {"cell": next((cell.text for cell in self.cells if cell.text), "")}

    @cached_property
    def name_objects(self) -> Names:
        """What kind of object the names of the code stand for, on the first host that tells."""
        found = (sidecar.read(Section.NAMES, read_names) for sidecar in self.sidecars)
        return next((names for names in found if names.objects), Names())

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
        size = sum(file.stat().st_size for file in self.run.files if file.is_file())
        if size < LARGE_BYTES or not self.has_lines or self.stopped or self.extent.events > MAX_EVENTS:
            return []  # or another note says the same
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
        _ = self.stopped, self.gpus, self.own_cores, self._cell_texts, self.name_objects
        captures = [note for sidecar in self.sidecars for note in sidecar.notes]
        if self.run.parts:
            captures += read_sidecar(self.run.files[0].with_name(SESSION_GRAPH)).notes
        hosts = dict.fromkeys(note for forest in self.forests for note in forest.host.notes)
        return [*self.run.notes, *captures, *self._size_notes(), *hosts, *self.cache.notes]
