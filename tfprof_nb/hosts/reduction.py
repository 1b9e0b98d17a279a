"""One host of many, reduced: the results that pages on all hosts need, without the events.

A `ReducedHost` takes the place of a `Forest`: `Forest.once` of an analysis in `_reduced` gives the result that was
computed where the host was read; whatever else is asked for is read from the file again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.compare.pace import recorded_work
from tfprof_nb.analysis.compare.work import float_ops_by_group
from tfprof_nb.analysis.events.compilations import host_compilations
from tfprof_nb.analysis.events.devices import has_device_events
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import drawing_tool, framework, keras_backend
from tfprof_nb.analysis.events.removals import host_sleeps
from tfprof_nb.analysis.functions.functions import function_calls
from tfprof_nb.analysis.kernels import kernel_sums
from tfprof_nb.analysis.memory.memory import host_memory
from tfprof_nb.analysis.ops.ops import ops_by_side
from tfprof_nb.analysis.overview import planes_with_work, precision
from tfprof_nb.analysis.python import callback_calls
from tfprof_nb.analysis.steps.breakdown import input_between_steps_ps
from tfprof_nb.analysis.steps.capture_notes import values_of_marks
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import host_steps
from tfprof_nb.analysis.tf_data.tf_data import host_stages
from tfprof_nb.decode import Host, load_hosts
from tfprof_nb.decode.sections.graphs import Graphs, read_graphs
from tfprof_nb.decode.sidecar import read_sidecar
from tfprof_nb.formats.sidecar import Section
from tfprof_nb.storage import StoredFile, fetch

_ABOUT = (
    *("name", "lines", "errors", "warnings", "origin_ns", "notes", "run_starts_ps"),
    *("began_ns", "ended_ns", "recorded_ns", "host_level", "marks", "recorded_events"),
)
_KEPT_OPEN = 2
_LARGE_STAT = 1 << 16  # bytes: the program of an accelerator, which only XProf's tools read


class Later:
    """Something that is read only when it is used."""

    def __init__(self, now: Callable[[], Any]) -> None:
        self.now = now

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now(), name)


@dataclass(frozen=True, eq=False)
class Reduction:
    """What a process that reads a host sends back.

    Attributes
    ----------
    about
        The host without its events: `Host`'s other attributes.
    events, end_ps
        How many events there are, and when the last one ends.
    results
        The result of each analysis.
    """

    about: dict[str, Any]
    events: int
    end_ps: int
    results: dict[Callable[..., Any], Any]


def reduce_host(file: Path, name: str) -> Reduction:
    """Read one host and reduce it.

    Raises
    ------
    BadProfileError
        The file is of an unsupported kind, empty, cut short or damaged.
    """
    forest = Forest(load_hosts([file], [name])[0])
    graphs = read_sidecar(file).read(Section.GRAPHS, read_graphs)
    host = forest.host
    planes = tuple(
        replace(plane, stats={stat: value for stat, value in plane.stats.items() if not _is_large(value)})
        for plane in host.planes
    )
    about = {attribute: getattr(host, attribute) for attribute in _ABOUT} | {"planes": planes}
    return Reduction(about, len(host), forest.end_ps, _reduced(forest, graphs))


def _is_large(value: object) -> bool:
    return isinstance(value, str | bytes) and len(value) > _LARGE_STAT


def _reduced(forest: Forest, graphs: Graphs) -> dict[Callable[..., Any], Any]:
    grouping = group_events(forest)
    of_events: tuple[Callable[[Forest], Any], ...] = (
        callback_calls,
        drawing_tool,
        framework,
        function_calls,
        has_device_events,
        host_compilations,
        host_sleeps,
        host_stages,
        keras_backend,
        kernel_sums,
        planes_with_work,
        precision,
        values_of_marks,
    )
    results: dict[Callable[..., Any], Any] = {analysis: forest.once(analysis) for analysis in of_events}
    return results | {
        float_ops_by_group: float_ops_by_group(forest, graphs, grouping),
        host_memory: host_memory(forest, name_host=True),
        host_steps: host_steps(forest, grouping),
        input_between_steps_ps: input_between_steps_ps(forest, grouping),
        ops_by_side: ops_by_side(forest, graphs, grouping),
        recorded_work: recorded_work(forest, grouping),
    }


class _About:
    """A host, of which the events are read again when they are used."""

    def __init__(self, reduction: Reduction, again: Callable[[], Host]) -> None:
        vars(self).update(reduction.about)
        self._events, self._again = reduction.events, again

    def __len__(self) -> int:
        return self._events

    def __getattr__(self, name: str) -> Any:
        return getattr(self._again(), name)


class ReducedHost:
    """Takes the place of a `Forest`: some results are known, and the events are read again when they are used."""

    def __init__(self, reduction: Reduction, file: Path, stored: tuple[StoredFile, ...] = ()) -> None:
        self.end_ps = reduction.end_ps
        self._results, self._file, self._stored = reduction.results, file, stored
        self.host = _About(reduction, lambda: self._again().host)

    @property
    def grouping(self) -> Any:
        """The step groups of its events, made when they are used."""
        return _LaterGrouping(lambda: self._again().once(group_events))

    def once(self, analysis: Callable[..., Any], *given: Any) -> Any:
        """Return the result of an analysis: the known one, or that of the events."""
        if analysis in self._results:
            return self._results[analysis]
        return self._again().once(analysis, *map(_now, given))

    def anew(self, analysis: Callable[..., Any], *given: Any) -> Any:
        """Return the result of an analysis of the events, which is not kept."""
        return self._again().anew(analysis, *map(_now, given))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._again(), name)

    def _again(self) -> Forest:
        return _read_again(self._file, self.host.name, self._stored)


class _LaterGrouping(Later):
    def steps_of_events(self, groups: Int64, steps: Int64) -> Later:
        return Later(lambda: self.now().steps_of_events(groups, steps))


def _now(given: Any) -> Any:
    return given.now() if isinstance(given, Later) else given


@lru_cache(maxsize=_KEPT_OPEN)
def _read_again(file: Path, name: str, stored: tuple[StoredFile, ...]) -> Forest:
    if error := fetch(stored, lambda _text: None).get(file):
        raise error
    return Forest(load_hosts([file], [name])[0])
