"""A closed view keeps nothing, neither widgets nor what it showed; what others hold stays as it is."""

import gc
import weakref

import ipywidgets
import pytest
from ipywidgets.widgets.widget import _instances as widgets

from render import samples
from tfprof_nb.render import View
from tfprof_nb.render.browser_widgets import TabsWidget
from tfprof_nb.render.content import Content
from tfprof_nb.render.panels import Bars, Part, Tab, Tabs, Timeline
from tfprof_nb.render.widget_tree import whole


def every_kind(source):
    """Panels whose widgets are made of others: tabs in tabs, charts with marks, axes and scales, a trace."""
    parts = [Part("a", 1.0, "#123"), Part("b", 2.0, "#456")]
    inner = [Tab("one", lambda: [Bars("", parts, "ms")]), Tab("two", samples.dashboard)]
    pages = [Tab("inner", lambda: [Tabs(inner, "menu", "host")]), Tab("Trace", lambda: [Timeline("Trace", source)])]
    return [*samples.dashboard(), Tabs(pages, "slider", "step")]


def opened(view):
    """Make all widgets of a view, as a reader does who looks at every page, those inside of pages too."""
    view._build()
    seen = set()
    while strips := [one for one in whole(view) if isinstance(one, TabsWidget) and one not in seen]:
        for strip in strips:
            for page in range(len(strip.names)):
                strip.selected = page
        seen.update(strips)
    return view


def test_a_closed_view_leaves_no_widget_and_nothing_that_it_showed():
    before, source = set(widgets), samples.Events()
    view, watched = opened(View("baseline", every_kind(source))), weakref.ref(source)
    assert len(widgets) - len(before) > 100
    view.observe(print, "selected_step")
    view.close()
    assert set(widgets) == before
    del source
    gc.collect()
    assert watched() is None
    assert "was closed" in str(view)
    view.close()


def test_closing_leaves_what_holds_the_view_and_other_views():
    other, view = View("other", every_kind(samples.Events())), View("baseline", every_kind(samples.Events()))
    box = ipywidgets.HBox([other, view])
    for shown in (other, view):
        shown._build()
    kept = len(widgets)
    view.close()
    assert len(widgets) < kept
    assert box.comm is not None
    other.selected_step = 7
    assert all(child.comm is not None for child in other.children)
    other.close()


def test_text_needs_no_widget(capsys):
    before, content = set(widgets), Content("baseline", samples.dashboard())
    assert str(content).startswith("baseline\n")
    content._ipython_display_()
    assert capsys.readouterr().out == f"{content}\n"
    assert set(widgets) == before


@pytest.mark.parametrize("seen", [0, 1, 2])
def test_a_replaced_view_is_closed_once_no_front_end_shows_it(seen):
    view = View("baseline", samples.dashboard())
    view.set_state({"_view_count": seen})
    view.close_unseen()
    for left in reversed(range(seen)):
        assert view.comm is not None
        view.set_state({"_view_count": left})
    assert view.comm is None
