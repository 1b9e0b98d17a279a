"""The widgets' own JavaScript, in a real browser, on what their Python sides really send."""

import re

import pandas as pd
import pytest

import tfprof_nb as tp
from browser.fake_host import FakeHost
from builders import XSpace
from tfprof_nb.render.panels import Column
from tfprof_nb.render.table_widget import TableWidget
from tfprof_nb.render.tabs_widget import TabsWidget
from tfprof_nb.render.timeline_widget import TraceWidget

pytestmark = pytest.mark.browser

LABELS_PX = 200  # a fifth of the canvas, which is 1000 wide
GUTTER_PX = 8
PIXEL = "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data]"


@pytest.fixture
def host(chromium):
    """``host("trace")`` opens a page for widgets of that kind; none may log, throw, or fetch from elsewhere."""
    pages = []

    def open_page(name):
        page = chromium.new_page(viewport={"width": 1018, "height": 800}, color_scheme="light")
        pages.append(FakeHost(page, name))
        return pages[-1]

    yield open_page
    for fake in pages:
        assert fake.complaints == []
        assert set(fake.requests) <= {"", *fake.files, "favicon.ico"}
        fake.page.close()


@pytest.fixture
def trace(tmp_path):
    """Two threads over a millisecond: ``fit`` with two ``MatMul`` in it, and ``Relu`` beside them."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python = cpu.line("python", line_id=1)
    python.event("fit", start_us=0, duration_us=1000)
    python.event("MatMul", start_us=100, duration_us=200, shape="(2,3)")
    python.event("MatMul", start_us=600, duration_us=100)
    cpu.line("tf_Compute", line_id=2).event("Relu", start_us=400, duration_us=200)
    return TraceWidget(tp.load(space.write(tmp_path / "host.xplane.pb")).trace)


@pytest.fixture
def viewer(host, trace):
    """The trace on screen: its host, its canvas, and where a time and a lane are on it."""
    fake = host("trace")
    fake.show(trace)
    canvas = fake.page.locator("canvas")
    canvas.wait_for()
    fake.page.wait_for_function("() => document.querySelector('canvas').width > 900")
    fake.page.wait_for_timeout(100)
    return fake, canvas


def position(time_us, lane):
    """Canvas position of a time (of 1000 us in view) on the lanes fit, MatMul, Relu."""
    plot = 1000 - LABELS_PX - GUTTER_PX
    return {"x": LABELS_PX + plot * time_us / 1000, "y": 20 + 22 + 8 + [0, 17, 39][lane]}


def selected_name(fake):
    return fake.page.locator(".tfp-details .tfp-name").inner_text()


def test_events_are_drawn_where_their_time_is(viewer):
    _, canvas = viewer
    assert canvas.evaluate("canvas => canvas.width") == 1000

    def pixel(time_us, lane):
        at = position(time_us, lane)
        # The lower edge of the lane: the text does not reach it.
        return canvas.evaluate(PIXEL, [int(at["x"]), int(at["y"]) + 6])[:3]

    background = [255, 255, 255]
    assert pixel(500, 0) != background
    assert pixel(110, 1) == pixel(290, 1) == pixel(650, 1) != background
    assert pixel(450, 1) == pixel(350, 2) == pixel(650, 2) == background
    assert pixel(550, 2) not in (background, pixel(500, 0))


def test_a_click_selects_and_asks_the_kernel_for_stats(viewer, trace):
    fake, canvas = viewer
    canvas.click(position=position(200, 1))
    event = fake.get("selected_event")
    assert selected_name(fake) == "MatMul"
    assert fake.page.evaluate("model.sent") == [{"type": "details", "event": event, "id": 1}]
    panel = fake.page.locator(".tfp-details").inner_text()
    assert re.search(r"Duration\s+200 µs", panel)
    assert re.search(r"Start\s+100 µs", panel)
    assert re.search(r"Same name in view\s+2 events, total 300 µs, mean 150 µs", panel)

    answers = []
    trace.send = lambda content, buffers=None: answers.append(content)
    trace._answer(trace, {"type": "details", "event": event, "id": 1}, [])
    fake.page.evaluate("(answer) => model.emit('msg:custom', answer)", answers[0])
    assert re.search(r"shape\s+\(2,3\)", fake.page.locator(".tfp-details").inner_text())


def test_a_late_answer_for_another_event_is_not_shown(viewer):
    fake, canvas = viewer
    canvas.click(position=position(200, 1))
    canvas.click(position=position(650, 1))
    fake.page.evaluate("() => model.emit('msg:custom', {type: 'details', id: 1, stats: {late: 'yes'}})")
    assert "late" not in fake.page.locator(".tfp-details").inner_text()


def test_keys_walk_events_of_one_name_and_nesting(viewer):
    fake, canvas = viewer
    canvas.click(position=position(200, 1))
    first = fake.get("selected_event")
    canvas.press("ArrowRight")
    second = fake.get("selected_event")
    assert second != first
    canvas.press("ArrowLeft")
    assert fake.get("selected_event") == first
    canvas.press("ArrowUp")
    assert selected_name(fake) == "fit"
    canvas.press("Escape")
    assert fake.get("selected_event") is None


def test_a_track_folds_by_key_and_by_a_click_on_its_name(viewer):
    fake, canvas = viewer
    height = "() => document.querySelector('canvas').clientHeight"
    open_height = fake.page.evaluate(height)
    canvas.click(position=position(50, 0))
    canvas.press("Enter")
    assert fake.page.evaluate(height) == open_height - 17  # one lane less
    canvas.click(position={"x": 30, "y": position(0, 0)["y"]})
    assert fake.page.evaluate(height) == open_height


def test_zoom_and_pan_tell_the_kernel_the_range(viewer):
    fake, canvas = viewer
    canvas.click(position=position(200, 1))
    canvas.press("f")
    fake.wait_for("time_range", [80e6, 320e6])  # the event and a tenth of it on either side
    canvas.press("0")
    fake.wait_for("time_range", None)


def test_the_kernel_sets_the_range(viewer):
    fake, canvas = viewer
    fake.set("time_range", [100e6, 300e6])
    fake.page.wait_for_timeout(100)
    assert "100 µs to 300 µs (200 µs)" in fake.page.locator(".tfp-toolbar").inner_text()
    canvas.click(position={**position(0, 1), "x": 990})
    assert selected_name(fake) == "MatMul"


def test_the_plain_wheel_stays_the_page_s_unless_rows_overflow(viewer):
    fake, canvas = viewer
    taken = "(canvas, delta) => !canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: delta, cancelable: true}))"
    assert canvas.evaluate(taken, 50) is False
    fake.set("height", 60)
    assert canvas.evaluate(taken, 10) is True
    assert canvas.evaluate(taken, 5000) is True
    assert canvas.evaluate(taken, 50) is False


def test_search_highlights_and_steps_through_hits(viewer):
    fake, canvas = viewer
    canvas.press("/")
    fake.page.keyboard.type("matm")
    assert "2 hits" in fake.page.locator(".tfp-toolbar").inner_text()
    fake.page.wait_for_timeout(100)
    dimmed = position(550, 2)
    red, green, blue, _ = canvas.evaluate(PIXEL, [int(dimmed["x"]), int(dimmed["y"]) + 6])
    assert max(red, green, blue) - min(red, green, blue) < 16
    fake.page.keyboard.press("Enter")
    assert selected_name(fake) == "MatMul"


def test_the_kernel_highlights_a_name_and_takes_it_back(viewer):
    fake, _ = viewer
    fake.set("selected_name", "Relu")
    assert "1 hit" in fake.page.locator(".tfp-toolbar").inner_text()
    fake.set("selected_name", None)
    assert "hit" not in fake.page.locator(".tfp-toolbar").inner_text()


def test_it_draws_when_its_tab_is_opened_and_follows_the_theme(host, trace):
    fake = host("trace")
    fake.show(trace)
    box = fake.page.locator("#widget")
    box.evaluate("box => { box.style.display = 'none' }")
    box.evaluate("box => { box.style.display = '' }")
    fake.page.wait_for_function("() => document.querySelector('canvas')?.width > 900")
    fake.page.evaluate("() => document.body.setAttribute('data-jp-theme-light', 'false')")
    fake.page.wait_for_timeout(200)
    canvas = fake.page.locator("canvas")
    at = position(450, 1)
    assert max(canvas.evaluate(PIXEL, [int(at["x"]), int(at["y"])])[:3]) < 60


def test_it_leaves_nothing_behind(viewer):
    fake, _ = viewer
    assert fake.close() == 0
    assert fake.page.locator("#widget").inner_html() == ""


def test_a_payload_that_did_not_arrive_is_explained(host, trace):
    fake = host("trace")
    trace.payload = []
    fake.show(trace)
    message = fake.page.get_by_role("status")
    assert "cannot be shown" in message.inner_text()


def test_columns_of_the_table_line_up_with_their_headers(host):
    frame = pd.DataFrame({"op": ["gradient_tape/" * 8, "Relu"], "self_us": [12345.6, 0.5], "share": [0.9, 0.1]})
    columns = [Column("op", "Op"), Column("self_us", "Self (µs)", "us"), Column("share", "Share", "share", bar=True)]
    fake = host("table")
    fake.show(TableWidget(frame, columns))
    lefts = "cells => cells.map(cell => Math.round(cell.getBoundingClientRect().left))"
    cells = fake.page.locator("[data-place='0'] [role=gridcell]")
    assert fake.page.locator("[role=columnheader]").evaluate_all(lefts) == cells.evaluate_all(lefts)
    assert cells.all_inner_texts()[1:] == ["12,346", "90.0%"]
    fake.page.get_by_text("Self (µs)").click()
    fake.page.locator("[role=grid]").press("End")
    assert fake.get("selected_row") == 1


def test_tabs_switch_panes_without_a_kernel(host):
    strip = TabsWidget(["Overview", "Steps"])
    fake = host("tabs")
    fake.show(strip)
    fake.page.evaluate(
        "(names) => names.forEach((name) => document.body.append(Object.assign(document.createElement('p'),"
        " {className: name, textContent: name})))",
        [strip.pane_class(0), strip.pane_class(1)],
    )
    panes = [fake.page.locator(f".{strip.pane_class(k)}") for k in (0, 1)]
    assert [pane.is_visible() for pane in panes] == [True, False]
    fake.page.get_by_role("tab", name="Steps").click()
    assert [pane.is_visible() for pane in panes] == [False, True]
    assert fake.get("selected") == 1
