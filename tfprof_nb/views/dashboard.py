"""The dashboard: the answer on top, then a page per feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from tfprof_nb import _units
from tfprof_nb.analysis.result import Result
from tfprof_nb.render.content import Content
from tfprof_nb.render.page import page
from tfprof_nb.render.panels import Note, Panel, Tab, Tabs
from tfprof_nb.views import (
    advice,
    functions,
    graph,
    input_pipeline,
    kernels,
    memory,
    ops,
    overview,
    pods,
    source,
    steps,
    tf_data,
    trace,
)
from tfprof_nb.views.pages import PAGES

# A profile's results by feature, as panels. Views know results, not the profile that holds them: hence Any.
Results = Any
_FEATURES: dict[str, Callable[[Results], list[Panel]]] = {
    "overview": lambda p: overview.panels(p.overview, p.advice, p.steps),
    "advice": lambda p: advice.panels(p.advice),
    "steps": lambda p: steps.panels(p.steps),
    "source": lambda p: source.panels(p.source),
    "input_pipeline": lambda p: input_pipeline.panels(p.input_pipeline, p.tf_data),
    "tf_data": lambda p: tf_data.panels(p.tf_data),
    "ops": lambda p: ops.panels(p.ops),
    "kernels": lambda p: kernels.panels(p.kernels),
    "memory": lambda p: memory.panels(p.memory),
    "functions": lambda p: functions.panels(p.functions),
    "graph": lambda p: graph.panels(p.graph),
    "pods": lambda p: pods.panels(p.pods),
    "trace": lambda p: trace.panels(p.trace),
}


def content(results: Results, pages: str | Sequence[str] | None = None, *, static: bool = False) -> Content:
    """Return the dashboard, with all pages or with those named (keys of `PAGES`)."""
    return Content(title(results), panels(results, pages), static=static)


def report(results: Results) -> str:
    """Return the dashboard as one self-contained HTML page."""
    return page(title(results), panels(results))


def runs(names: Sequence[str], opened: Callable[[int], Results]) -> Content:
    """Return a menu of runs with the dashboard of the chosen one; a run is read when it is chosen."""

    def panels_of(k: int) -> Sequence[Panel]:
        chosen = opened(k)
        return [Note(title(chosen)), *panels(chosen)]

    tabs = [Tab(name, partial(panels_of, k)) for k, name in enumerate(names)]
    return Content("", [Tabs(tabs, "menu", "run", shown=1)])


def feature(results: Results, name: str) -> Content:
    """Return what one feature shows."""
    return Content(f"{results.name} · {name.replace('_', ' ')}", _FEATURES[name](results))


def part(results: Results, title: str, result: Result) -> Content:
    """Return what one view of the graph shows, or an estimate."""
    return Content(f"{results.name} · {title}", graph.part_panels(result))


def title(results: Results) -> str:
    """Say what was captured, where, and for how long."""
    count = results.steps.summary["steps"]
    captured = _units.milliseconds(results.duration_ms)
    steps_counted = f"{_units.count(count)} step{'' if count == 1 else 's'}"
    about = (results.name, results.origin, steps_counted, results.device_type, f"{captured} captured")
    return " · ".join(filter(None, about))


def panels(results: Results, pages: str | Sequence[str] | None = None) -> Sequence[Panel]:
    """Show the answer, then the pages; of several hosts, all together or any one. Pages are made when looked at.

    Raises
    ------
    ValueError
        If there is no page of a name.
    """
    chosen = check_pages(_pages(results) if pages is None else pages)
    if len(results.hosts) == 1:
        return _answer_and_pages(results, chosen)
    alone = [name for name in chosen if name != "pods"]
    together = Tab(f"all {len(results.hosts)}", lambda: _answer_and_pages(results, chosen))
    single = [Tab(name, partial(_one_host, results, name, alone)) for name in results.hosts]
    return [Tabs([together, *single], "menu", "hosts", shown=1)]


def _one_host(results: Results, name: str, pages: Sequence[str]) -> list[Panel]:
    return _answer_and_pages(results.host(name), pages)


def _answer_and_pages(results: Results, pages: Sequence[str]) -> list[Panel]:
    tabs = [Tab(PAGES[name], _page(results, name)) for name in pages]
    return [*overview.answer(results.overview, results.advice, results.steps), Tabs(tabs)]


def _pages(results: Results) -> list[str]:
    """All pages; that of the hosts only where there are several to compare."""
    return [name for name in PAGES if name != "pods" or len(results.hosts) > 1]


def check_pages(names: str | Iterable[str]) -> list[str]:
    """Return the names, if there is a page of each; one name may stand by itself."""
    chosen = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in chosen if name not in PAGES]
    if unknown:
        raise ValueError(f"There is no view {unknown[0]!r}: choose from {', '.join(PAGES)}.")
    return chosen


def _page(results: Results, name: str) -> Callable[[], Sequence[Panel]]:
    if name == "overview":  # its answer stands above the pages already
        return lambda: overview.proof(results.overview, results.steps)
    return lambda: _FEATURES[name](results)
