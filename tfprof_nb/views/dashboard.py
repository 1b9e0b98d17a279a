"""The dashboard: the answer on top, then a page per feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tfprof_nb import _units
from tfprof_nb.analysis.ops import Ops
from tfprof_nb.analysis.overview import Overview
from tfprof_nb.analysis.steps import Steps
from tfprof_nb.analysis.trace import Trace
from tfprof_nb.render.page import page
from tfprof_nb.render.panels import Panel, Tab, Tabs
from tfprof_nb.views import ops as ops_view
from tfprof_nb.views import overview as overview_view
from tfprof_nb.views import steps as steps_view
from tfprof_nb.views import trace as trace_view

if TYPE_CHECKING:
    from tfprof_nb.render.view import View


class Results(Protocol):
    """What a dashboard shows: a Profile has it."""

    @property
    def name(self) -> str: ...
    @property
    def device_type(self) -> str: ...
    @property
    def duration_ms(self) -> float: ...
    @property
    def overview(self) -> Overview: ...
    @property
    def steps(self) -> Steps: ...
    @property
    def ops(self) -> Ops: ...
    @property
    def trace(self) -> Trace: ...


def view(results: Results) -> View:
    """Return the dashboard as a widget."""
    from tfprof_nb.render.view import View

    return View(title(results), panels(results))


def report(results: Results) -> str:
    """Return the dashboard as one self-contained HTML page."""
    return page(title(results), panels(results))


def feature_view(results: Results, feature: str) -> View:
    """Return the widget of one feature."""
    from tfprof_nb.render.view import View

    return View(f"{results.name} · {feature.replace('_', ' ')}", feature_panels(results, feature))


def title(results: Results) -> str:
    """Say what was captured, where, and for how long."""
    steps = _units.count(results.steps.summary["steps"])
    captured = _units.milliseconds(results.duration_ms)
    return f"{results.name} · {steps} steps · {results.device_type} · {captured} captured"


def panels(results: Results) -> list[Panel]:
    """Show the answer, then the pages."""
    pages = {
        "Overview": lambda: overview_view.proof(results.overview, results.steps),
        "Steps": lambda: feature_panels(results, "steps"),
        "Ops": lambda: feature_panels(results, "ops"),
        "Trace": lambda: feature_panels(results, "trace"),
    }
    tabs = [Tab(name, make) for name, make in pages.items()]
    return [*overview_view.answer(results.overview, results.steps), Tabs(tabs)]


def feature_panels(results: Results, feature: str) -> Sequence[Panel]:
    """Show one feature by itself."""
    makers = {
        "overview": lambda: overview_view.panels(results.overview, results.steps),
        "steps": lambda: steps_view.panels(results.steps),
        "ops": lambda: ops_view.panels(results.ops),
        "trace": lambda: trace_view.panels(results.trace),
    }
    return makers[feature]()
