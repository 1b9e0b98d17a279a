"""The static form of a view, of a limited size."""

from tfprof_nb.render.panels import Note, Tab, Tabs
from tfprof_nb.render.static_form import static_view


def test_of_a_choosers_page_that_does_not_fit_its_parts_are_left_out():
    inside = Tabs([Tab("small", lambda: [Note("short")]), Tab("large", lambda: [Note("long")] * 200)])
    chooser = Tabs([Tab("all 2", lambda: [inside]), Tab("host-1", lambda: [Note("other")])], "menu", "hosts", shown=1)
    html = static_view("title", [chooser], limit=6000)
    assert "short" in html
    assert "keep the notebook small: large." in html
    assert "1 more to choose from in the live notebook, by hosts: host-1" in html
