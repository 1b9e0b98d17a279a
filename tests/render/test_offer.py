"""A button that runs something once; in saved and static forms its code."""

import threading
import time
from unittest.mock import Mock

import pytest

from tfprof_nb._errors import TfprofError
from tfprof_nb.render import View
from tfprof_nb.render.html import draw
from tfprof_nb.render.offer import OfferWidget
from tfprof_nb.render.panels import Change, Note, Offer
from tfprof_nb.render.progress import progress_bar, progress_line
from tfprof_nb.render.text import text_view
from tfprof_nb.render.widget_tree import whole


def offered(run):
    """A view that offers to run something, its button's widget and what the line beside it said."""
    view = View("made", [Offer("Measure it", "It is measured:", "measure(dataset)", run)])
    view._build()
    (widget,) = (one for one in whole(view) if isinstance(one, OfferWidget))
    button, line = widget._start, widget._line
    said = []
    line.observe(lambda change: said.append((change["new"], button.disabled)), "value")
    return view, widget, button, said


def click(widget):
    """Press the button, and wait until what it runs has ended."""
    widget._start.click()
    if widget._thread.ident is not None:
        widget._thread.join(60)


def test_a_click_runs_it_and_shows_what_came_out_in_place():
    def run():
        with progress_line() as show:
            progress_bar(show, "round 1 of 4", 0.5)
        return [Note("Measured.", "answer")]

    view, widget, button, said = offered(run)
    click(widget)
    assert [("round 1 of 4" in text, disabled) for text, disabled in said] == [(False, True), (True, True)]
    (shown,) = widget.children
    assert "Measured." in shown.value
    assert button.comm is None
    view.close()


def test_a_second_click_does_not_run_it_again():
    begun, may_end = threading.Event(), threading.Event()

    def wait():
        begun.set()
        may_end.wait(60)
        return [Note("Measured.")]

    run = Mock(side_effect=wait)
    view, widget, button, _ = offered(run)
    button.click()
    begun.wait(60)
    button.click()
    may_end.set()
    click(widget)
    run.assert_called_once()
    view.close()


def test_it_can_be_stopped():
    begun = threading.Event()

    def run():
        begun.set()
        try:
            while True:
                time.sleep(0.01)
        except KeyboardInterrupt:
            return [Note("Half of it.")]

    view, widget, button, _ = offered(run)
    stop = widget._stop
    assert stop.disabled
    button.click()
    begun.wait(60)
    assert not stop.disabled
    stop.click()
    widget._thread.join(60)
    assert "Half of it." in widget.children[0].value
    view.close()


@pytest.mark.parametrize("raised", [TfprofError("`dataset` is no dataset"), KeyboardInterrupt(), ValueError()])
def test_an_error_is_said_and_the_button_stays(raised, monkeypatch):
    run = Mock(side_effect=raised)
    view, widget, button, said = offered(run)
    click(widget)
    click(widget)  # of the same hand
    run.assert_called_once()
    expected = "interrupted" if isinstance(raised, KeyboardInterrupt) else str(raised) or "ValueError"
    assert expected in said[-1][0].replace('<code style="font-size:.93em">', "`").replace("</code>", "`")
    assert not button.disabled
    monkeypatch.setattr(widget, "_ended", 0.0)  # later
    click(widget)
    assert run.call_count == 2
    view.close()


def test_the_button_that_tries_a_change_belongs_to_its_card_and_says_nothing_until_it_runs():
    offer = Offer("Try it", "Runs it in turns:", "p.try_change('x')", lambda: [Note("5 times as fast")])
    view = View("made", [Change("In[1] line 2", "Add it", "Why.", "f()", "g()", offer=offer)])
    view._build()
    (widget,) = (one for one in whole(view) if isinstance(one, OfferWidget))
    (around,) = (one for one in whole(view) if "tfp-tries" in getattr(one, "_dom_classes", ()))
    assert [type(one).__name__ for one in around.children] == ["ChangeWidget", "OfferWidget"]
    assert (widget._line.value, widget._start.tooltip) == ("", "Runs it in turns.")
    click(widget)
    assert "5 times as fast" in widget.children[0].value
    view.close()


def test_without_a_kernel_the_code_stands_in_its_place():
    run = Mock()
    offer = Offer("Measure it", "It is measured:", "measure(dataset)", run)
    view = View("made", [offer])
    for form in (str(draw(offer)), view.to_html(), text_view("made", [offer])):
        assert "measure(dataset)" in form
        assert "button" not in form
    run.assert_not_called()
    view.close()
