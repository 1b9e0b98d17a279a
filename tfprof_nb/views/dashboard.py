"""The dashboard: the answer on top, then a page per result."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Protocol, runtime_checkable

from tfprof_nb import _units, views
from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.answer import Answer
from tfprof_nb.analysis.breakdown.breakdown import Breakdown
from tfprof_nb.analysis.functions.functions import Functions
from tfprof_nb.analysis.input_pipeline import InputPipeline
from tfprof_nb.analysis.layers import Layers
from tfprof_nb.analysis.memory.memory import Memory
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.analysis.overview import Overview
from tfprof_nb.analysis.python import Python
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.source.source import SourceLines
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.analysis.tf_data.tf_data import TfData
from tfprof_nb.analysis.trial import Trial
from tfprof_nb.formats.sidecar import INTERRUPTED_NOTE
from tfprof_nb.render.content import Content
from tfprof_nb.render.panels import Note, Panel, Tab, Tabs
from tfprof_nb.render.report import html_report
from tfprof_nb.views import advice as advice_view
from tfprof_nb.views import answer as answer_view
from tfprof_nb.views import graph as graph_view
from tfprof_nb.views import input_pipeline as input_pipeline_view
from tfprof_nb.views import layers as layers_view
from tfprof_nb.views import memory as memory_view
from tfprof_nb.views import overview as overview_view
from tfprof_nb.views import source as source_view
from tfprof_nb.views import steps as steps_view
from tfprof_nb.views import tf_data as tf_data_view
from tfprof_nb.views import trial as trial_view
from tfprof_nb.views.pages import PAGES, TAB_OF

_WITHOUT_TENSORFLOW = ("overview", "breakdown", "source", "python", "memory", "flame", "trace")
_FEW_PAGES = 5  # that need no groups
_MANY_EVENTS = 500_000  # all pages of fewer events take less than a second


class Results(Protocol):
    """What the dashboard reads of a profile. Each result is computed when it is read."""

    # ruff: noqa: D102
    @property
    def name(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def files(self) -> tuple[Path, ...]: ...
    @property
    def hosts(self) -> tuple[str, ...]: ...
    @property
    def device_type(self) -> str: ...
    @property
    def duration_ms(self) -> float: ...
    @property
    def event_count(self) -> int: ...
    @property
    def overview(self) -> Overview: ...
    @property
    def advice(self) -> Advice: ...
    @property
    def answer(self) -> Answer: ...
    @property
    def breakdown(self) -> Breakdown: ...
    @property
    def steps(self) -> Steps: ...
    @property
    def source(self) -> SourceLines: ...
    @property
    def python(self) -> Python: ...
    @property
    def layers(self) -> Layers: ...
    @property
    def input_pipeline(self) -> InputPipeline: ...
    @property
    def tf_data(self) -> TfData: ...
    @property
    def ops(self) -> Ops: ...
    @property
    def memory(self) -> Memory: ...
    @property
    def functions(self) -> Functions: ...
    def host(self, name: str) -> Results: ...


@runtime_checkable
class _Tries(Protocol):
    """A profile whose changes can be tried."""

    def try_change(self, rule: str | None = None) -> Trial: ...


_MORE = "More: print the profile's .advice, .steps, .tf_data, .ops, .memory ..."


def content(
    results: Results, pages: str | Sequence[str] | None = None, *, static: bool = False, saved: str = ""
) -> Content:
    """Return the dashboard, with all pages or the named ones (keys of `PAGES`); ``saved`` says where the files are.

    As text, all pages would fill many screens: it is the answer, unless pages are named.
    """
    notes = [Note(saved)] if saved else []
    in_text = partial(_answer_as_text, results, notes) if pages is None else None
    costly = results.event_count > _MANY_EVENTS
    shown = [*panels(results, pages), *notes]
    return Content(
        title(results), shown, static=static, costly=costly, in_text=in_text, reopen=_reopening(results.files)
    )


def _reopening(files: Sequence[Path]) -> str:
    """Return the lines that open a profile in a new kernel; nothing if it has no files here."""
    if not files:
        return ""
    path = files[0] if len(files) == 1 else files[0].parent
    with suppress(ValueError):
        path = path.resolve().relative_to(Path.cwd())
    return f"%load_ext tfprof_nb\n%tfprofile_load {shlex.quote(str(path))}"


def _answer_as_text(results: Results, notes: Sequence[Note]) -> Sequence[Panel]:
    return [*panels(results, ["overview"]), *notes, Note(_MORE)]


def report(results: Results) -> str:
    """Return the dashboard as one self-contained HTML page."""
    return html_report(title(results), panels(results))


def page_by_itself(results: Results, name: str) -> Content:
    """Return one page without the others."""
    return Content(f"{results.name} · {name.replace('_', ' ')}", page_panels(results, name))


def part(name: str, title: str, result: Result) -> Content:
    """Return one view of the graph of the profile of this name, or an estimate."""
    return Content(f"{name} · {title}", graph_view.part_panels(result))


def runs(names: Sequence[str], open_run: Callable[[int], Results]) -> Content:
    """Return a menu of runs with the dashboard of the chosen run; a run is read when it is chosen."""

    def panels_of(k: int) -> Sequence[Panel]:
        chosen = open_run(k)
        return [Note(title(chosen)), *panels(chosen)]

    tabs = [Tab(name, partial(panels_of, k)) for k, name in enumerate(names)]
    return Content("", [Tabs(tabs, "menu", "run", shown=1)])


def title(results: Results) -> str:
    """Say what was captured, where, and for how long."""
    count = results.steps.summary["steps"]
    captured = _units.milliseconds(results.duration_ms)
    step_count = f"{_units.count(count)} step{'' if count == 1 else 's'}"
    ended = "interrupted" if INTERRUPTED_NOTE in results.overview.notes else ""
    about = (results.name, results.origin, step_count, results.device_type, f"{captured} captured", ended)
    return " · ".join(filter(None, about))


def panels(results: Results, pages: str | Sequence[str] | None = None) -> Sequence[Panel]:
    """Show the answer, then the pages, of all hosts together or of any one. Pages are made when looked at.

    Raises
    ------
    ValueError
        If a name is not that of a page.
    """
    chosen = check_pages(_pages(results) if pages is None else pages)
    if len(results.hosts) == 1:
        return _answer_and_pages(results, chosen)
    of_one_host = [name for name in chosen if name != "pods"]
    together = Tab(f"all {len(results.hosts)}", partial(_answer_and_pages, results, chosen))
    single = [Tab(name, partial(_one_host, results, name, of_one_host)) for name in results.hosts]
    return [Tabs([together, *single], "menu", "hosts", shown=1)]


def _one_host(results: Results, name: str, pages: Sequence[str]) -> list[Panel]:
    return _answer_and_pages(results.host(name), pages)


def _answer_and_pages(results: Results, pages: Sequence[str]) -> list[Panel]:
    """Show the answer's first sentence above all pages, the rest on the overview; above the pages if that is absent."""
    lead, *rest = _answer(results, pages)
    group_of = TAB_OF if len(pages) > _FEW_PAGES else {}
    tabs = [
        Tab(PAGES[name], partial(_page_below_answer, results, name, rest), group_of.get(name, "")) for name in pages
    ]
    return [lead, Tabs(tabs)] if "overview" in pages else [lead, *rest, Tabs(tabs)]


def _answer(results: Results, pages: Sequence[str]) -> list[Panel]:
    """Say what takes the time, what to change, and what the cell is made of."""
    shown = results.answer, results.advice, results.breakdown, results.overview, results.steps
    if not isinstance(results, _Tries):
        return answer_view.panels(*shown, pages)
    return answer_view.panels(*shown, pages, lambda rule: trial_view.panels(results.try_change(rule)))


def _is_plain_python(results: Results) -> bool:
    """Whether the profile is that of a notebook cell that ran nothing of TensorFlow."""
    if results.steps.summary["steps"] or len(results.ops.table):
        return False
    return bool(results.source.summary["slowest_line"])


def _page_below_answer(results: Results, name: str, answer: Sequence[Panel]) -> list[Panel]:
    if name == "overview" and _is_plain_python(results):
        return [*answer, *source_view.plain(results.source, results.python)]
    if name == "overview":
        chart = steps_view.graph(results.steps) if len(results.steps.table) > 1 else []
        return [*answer, *chart, *overview_view.notes(results.overview, results.steps)]
    # Beside the answer, these pages say what it says, and not what helps pipelines in general.
    if name == "input_pipeline":
        return input_pipeline_view.panels(
            results.input_pipeline, results.tf_data, results.steps, advice_view.on_input(results.advice)
        )
    if name == "tf_data":
        return tf_data_view.panels(results.tf_data, advice_view.on_input(results.advice))
    return page_panels(results, name)


def _pages(results: Results) -> list[str]:
    """All pages that apply: none about what the program does not use."""
    if _is_plain_python(results):
        return list(_WITHOUT_TENSORFLOW)
    calls, waits = len(results.functions.table) > 0, results.overview.summary["input_percent"] > 0
    applies = {
        "advice": False,  # the answer has all of it
        "pods": len(results.hosts) > 1,
        "kernels": "GPU" in results.device_type,
        "input_pipeline": waits or len(results.input_pipeline.table) > 0,
        "tf_data": waits or len(results.tf_data.table) > 0,
        **dict.fromkeys(("functions", "layers"), calls),
        "graph": results.overview.summary["eager_percent"] != 100,
    }
    return [name for name in PAGES if applies.get(name, True)]


def check_pages(names: str | Iterable[str]) -> list[str]:
    """Return the names, or raise a `ValueError` if a name is not that of a page; a single name may be a text."""
    chosen = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in chosen if name not in PAGES]
    if unknown:
        raise ValueError(f"There is no view {unknown[0]!r}: choose from {', '.join(PAGES)}.")
    return chosen


def page_panels(results: Results, name: str) -> list[Panel]:
    """Return what a page shows, computing only the results that it needs: by default, the result of its name."""
    match name:
        case "overview":
            return overview_view.panels(results.overview, results.steps)
        case "memory":
            process = results.overview.summary["process_peak_bytes"] if len(results.hosts) == 1 else 0.0
            return memory_view.panels(results.memory, process)
        case "source":
            return source_view.panels(results.source, results.python)
        case "layers":
            return layers_view.panels(results.layers, results.breakdown)
        case "input_pipeline":
            return input_pipeline_view.panels(results.input_pipeline, results.tf_data, results.steps)
    check_pages(name)
    shown: list[Panel] = import_module(f"{views.__name__}.{name}").panels(getattr(results, name))
    return shown
