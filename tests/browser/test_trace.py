"""The trace viewer in a real browser, driven by mouse and keyboard, on what its Python side really sends."""

import re

import pytest

import tfprof_nb as tp
from browser.lab import FRAMES
from browser.trace_driver import (
    LABELS_PX,
    PIXEL,
    canvas_of,
    connect,
    drag,
    position,
    range_rows,
    selected_name,
    shown_range,
    wait_for_range,
    wait_until_drawn,
)
from builders import XSpace
from tfprof_nb.render.browser_widgets import TraceWidget


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
    return fake, canvas_of(fake)


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
    assert fake.page.locator(".tfp-details dd").nth(1).get_attribute("title") == "100 µs"
    assert re.search(r"Same name in view\s+2 events, total 300 µs, mean 150 µs", panel)

    answers = []
    trace.send = lambda content, buffers=None: answers.append(content)
    trace._answer(trace, {"type": "details", "event": event, "id": 1}, [])
    answers.append({"type": "source", "id": 1, "line": "cell line 4: y = x @ x"})
    for answer in (answers[0], answers[-1]):
        fake.page.evaluate("(answer) => model.emit('msg:custom', answer)", answer)
    assert re.search(r"shape\s+\(2,3\)", fake.page.locator(".tfp-details").inner_text())
    assert re.search(r"Source\s+cell line 4: y = x @ x", fake.page.locator(".tfp-details").inner_text())


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


def test_keys_work_under_the_pointer_without_a_click(viewer):
    fake, canvas = viewer
    before = shown_range(fake)
    fake.page.keyboard.press("w")
    assert shown_range(fake) == before
    for time_us in (390, 400):
        canvas.hover(position=position(time_us, 1))
    fake.page.keyboard.press("w")
    assert shown_range(fake) != before
    fake.page.keyboard.press("0")
    assert shown_range(fake) == before
    fake.page.keyboard.press("/")
    fake.page.keyboard.type("w")
    fake.page.keyboard.press("Escape")
    fake.page.mouse.move(500, 780)
    fake.page.evaluate("() => document.activeElement.blur()")
    fake.page.keyboard.press("w")
    assert shown_range(fake) == before


def test_a_track_folds_by_key_and_by_a_click_on_its_name(viewer):
    fake, canvas = viewer
    height = "() => document.querySelector('.tfp-canvas').clientHeight"
    open_height = fake.page.evaluate(height)
    canvas.click(position=position(50, 0))
    canvas.press("Enter")
    assert fake.page.evaluate(height) == open_height - 17  # one lane less
    canvas.press("Shift+Enter")
    assert fake.page.evaluate(height) < 60  # only the section's title is left
    canvas.press("Shift+Enter")
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
    assert "100 µs to 300 µs (200 µs)" in fake.page.locator(".tfp-toolbar").inner_text()
    canvas.click(position={**position(0, 1), "x": 990})
    assert selected_name(fake) == "MatMul"


def test_a_trace_opens_on_its_steps(host, tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("start-up", start_us=0, duration_us=8000)
    for number in range(4):
        python.event("train", start_us=9000 + 250 * number, duration_us=250, step_num=number, _r=1)
    fake = host("trace")
    fake.page.clock.install()
    fake.show(TraceWidget(tp.load(space.write(tmp_path / "host.xplane.pb")).trace))
    canvas = fake.page.locator(".tfp-canvas")
    canvas.wait_for()
    fake.page.clock.run_for(400)  # longer than until a move is told to the kernel
    assert shown_range(fake) == "8.96 ms to 10 ms (1.04 ms)"
    assert fake.get("time_range") is None
    canvas.press("0")
    assert shown_range(fake) == "0 s to 10 ms (10.0 ms)"
    canvas.press("w")
    fake.page.clock.run_for(400)
    canvas.press("0")
    fake.wait_for("time_range", None)
    assert shown_range(fake) == "0 s to 10 ms (10.0 ms)"


def test_the_tooltip_follows_keys_and_hides_during_a_drag(viewer):
    fake, canvas = viewer
    tooltip = fake.page.get_by_role("tooltip")
    first = lambda: tooltip.locator("strong").inner_text() if tooltip.is_visible() else ""  # noqa: E731
    for time_us in (190, 200):
        canvas.hover(position=position(time_us, 1))
    assert first() == "MatMul"
    for _ in range(3):
        fake.page.keyboard.press("w")
    for _ in range(4):
        fake.page.keyboard.press("d")
    fake.page.evaluate(FRAMES)
    assert first() == ""
    fake.page.keyboard.press("0")
    fake.page.evaluate(FRAMES)
    assert first() == "MatMul"
    fake.page.keyboard.press("w")
    box = canvas.bounding_box()
    at = position(200, 1)
    fake.page.mouse.down()
    fake.page.mouse.move(box["x"] + at["x"] + 30, box["y"] + at["y"])
    assert first() == ""
    fake.page.mouse.move(box["x"] + at["x"] + 40, box["y"] + at["y"])
    assert first() == ""
    fake.page.mouse.up()
    assert first() == "MatMul"


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
    wait_until_drawn(fake.page)
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
    canvas = canvas_of(fake)
    fake.page.evaluate("() => document.body.setAttribute('data-jp-theme-light', 'false')")
    wait_until_drawn(fake.page)
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


@pytest.fixture
def launches(host, tmp_path):
    """A viewer that can ask: ``step`` launches a kernel, of which XLA's neighbour on the stream is none of its own."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("step", start_us=0, duration_us=900)
    python.event("launch", start_us=100, duration_us=100, correlation_id=7)
    stream = space.plane("/device:GPU:0").line("Stream #1")
    stream.event("sgemm", start_us=400, duration_us=200, correlation_id=7)
    stream.event("relu", start_us=700, duration_us=300)
    widget = TraceWidget(tp.load(space.write(tmp_path / "host.xplane.pb")).trace)
    fake = host("trace")
    fake.show(widget)
    connect(fake, widget)
    return fake, canvas_of(fake)


def test_a_selected_event_shows_what_it_launched_and_goes_there(launches):
    fake, canvas = launches
    search = fake.page.get_by_role("searchbox")
    search.fill("launch")
    search.press("Enter")
    details = fake.page.get_by_label("Selected event")
    details.get_by_text("Launches").wait_for()
    wait_until_drawn(fake.page)
    before = canvas.screenshot()
    details.get_by_role("button", name="Go to it: 200 µs on Stream #1").click()
    details.get_by_text("Launched by").wait_for()
    assert selected_name(fake) == "sgemm"
    wait_until_drawn(fake.page)
    assert canvas.screenshot() != before


def test_the_arrow_of_a_launch_ends_at_its_kernel(launches):
    fake, canvas = launches
    canvas.click(position={"x": LABELS_PX + 792 * 0.5, "y": 20 + 22 + 8})  # the kernel, 400 to 600 us
    fake.page.get_by_text("Launched by").wait_for()
    wait_until_drawn(fake.page)
    # The head of the arrow lies left of the kernel's start, where the stream is idle.
    at = [round(LABELS_PX + 792 * 0.4) - 4, 20 + 22 + 8]
    assert max(canvas.evaluate(PIXEL, at)[:3]) < 60


def test_stats_that_do_not_come_are_explained_and_nothing_hangs(viewer):
    fake, canvas = viewer
    canvas.click(position=position(200, 1))
    fake.page.get_by_text("The kernel is busy or gone").wait_for()
    canvas.press("w")
    assert "792" not in shown_range(fake)
    assert selected_name(fake) == "MatMul"


def test_tools_are_chosen_by_key_and_by_button(viewer):
    fake, canvas = viewer
    canvas.focus()
    for key, name in (("1", "Select"), ("2", "Pan"), ("3", "Zoom"), ("4", "Timing")):
        canvas.press(key)
        pressed = fake.page.locator(".tfp-tools [aria-pressed=true]")
        assert pressed.all_inner_texts() == [name]
    fake.page.get_by_role("button", name="Select: drag").click()
    assert fake.page.locator(".tfp-tools [aria-pressed=true]").all_inner_texts() == ["Select"]


def test_dragging_pans_and_the_zoom_tool_zooms(viewer):
    fake, canvas = viewer
    canvas.focus()
    canvas.press("3")
    drag(fake, canvas, position(200, 1), position(600, 1))
    wait_for_range(fake, 200e6, 600e6, off_by_ps=2e6)
    canvas.press("2")
    drag(fake, canvas, {"x": 700, "y": 60}, {"x": 600, "y": 60})
    moved = 400e6 * 100 / 792
    wait_for_range(fake, 200e6 + moved, 600e6 + moved, off_by_ps=2e6)


def test_a_selected_range_tells_what_ran_in_it(viewer):
    fake, canvas = viewer
    canvas.focus()
    canvas.press("1")
    drag(fake, canvas, position(0, 0), position(500, 1))
    title = fake.page.get_by_label("Selected range").locator("strong").inner_text()
    assert re.search(r"500 µs selected: 0 s to 500 µs, 1 track", title)
    assert range_rows(fake) == [
        ["fit", "1", "500 µs", "300 µs", "500 µs"],
        ["MatMul", "1", "200 µs", "200 µs", "200 µs"],
    ]
    fake.page.get_by_title("Order by name").click()
    assert [row[0] for row in range_rows(fake)] == ["fit", "MatMul"]
    # From the ruler, all tracks.
    drag(fake, canvas, {"x": position(0, 0)["x"], "y": 10}, {"x": position(500, 0)["x"], "y": 12})
    assert [row[0] for row in range_rows(fake)] == ["fit", "MatMul", "Relu"]
    canvas.press("Escape")
    assert fake.page.get_by_label("Selected range").is_hidden()


def test_a_name_in_the_range_is_highlighted(viewer):
    fake, canvas = viewer
    canvas.focus()
    canvas.press("m")
    fake.page.get_by_role("button", name="MatMul").click()
    assert fake.get("selected_name") == "MatMul"
    assert "2 hits" in fake.page.locator(".tfp-toolbar").inner_text()


def test_timing_goes_from_edge_to_edge_and_its_cursors_can_be_moved(viewer):
    fake, canvas = viewer
    canvas.focus()
    canvas.press("4")
    near = lambda time_us, lane, off: {**position(time_us, lane), "x": position(time_us, lane)["x"] + off}  # noqa: E731
    drag(fake, canvas, near(100, 1, 3), near(600, 1, -4))
    title = fake.page.get_by_label("Selected range").locator("strong")
    assert title.inner_text() == "500 µs selected: 100 µs to 600 µs, all tracks"
    drag(fake, canvas, near(600, 0, 2), near(400, 2, 3))
    assert title.inner_text() == "300 µs selected: 100 µs to 400 µs, all tracks"


def test_m_marks_the_selected_event_and_takes_the_mark_away(viewer):
    fake, canvas = viewer
    canvas.click(position=position(200, 1))
    canvas.press("m")
    title = fake.page.get_by_label("Selected range").locator("strong")
    assert title.inner_text() == "200 µs selected: 100 µs to 300 µs, all tracks"
    canvas.press("f")
    fake.wait_for("time_range", [80e6, 320e6])
    canvas.press("Escape")
    assert title.is_hidden()


def test_the_overview_s_window_is_dragged_drawn_and_moved_by_keys(viewer):
    fake, _ = viewer
    overview = fake.page.locator(".tfp-minimap")
    drag(fake, overview, {"x": 198, "y": 20}, {"x": 396, "y": 20})
    wait_for_range(fake, 250e6, 500e6, off_by_ps=3e6)
    drag(fake, overview, {"x": 297, "y": 20}, {"x": 396, "y": 20})
    wait_for_range(fake, 375e6, 625e6, off_by_ps=3e6)
    overview.press("Home")
    overview.press("ArrowRight")
    wait_for_range(fake, 50e6, 300e6, off_by_ps=3e6)
    assert "50" in overview.get_attribute("aria-valuetext")


def test_filters_hide_rows_short_events_and_what_is_not_searched_for(viewer):
    fake, canvas = viewer
    fake.page.get_by_role("button", name="Filter by track").click()
    height = "() => document.querySelector('.tfp-canvas').clientHeight"
    before = fake.page.evaluate(height)
    tracks, least = fake.page.get_by_label("Track name contains"), fake.page.get_by_label("Minimum duration")
    tracks.fill("tf_comp")
    assert fake.page.evaluate(height) < before
    tracks.fill("")
    least.fill("150 us")
    assert "3 of 4 shown" in fake.page.locator(".tfp-filters").inner_text()
    least.fill("")
    fake.page.get_by_role("searchbox").fill("matmul")
    fake.page.get_by_label("Search hits only").check()
    assert "2 of 4 shown" in fake.page.locator(".tfp-filters").inner_text()
    canvas.click(position=position(650, 1))
    assert fake.get("selected_event") == 2  # its number in the whole trace
    fake.page.get_by_role("button", name="Show everything again").click()
    assert fake.page.locator(".tfp-filters [role=status]").inner_text() == ""


def test_everything_is_reached_by_keyboard_and_has_a_name(viewer):
    fake, _ = viewer
    label = "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName"
    seen = []
    for _ in range(16):
        fake.page.keyboard.press("Tab")
        seen.append(fake.page.evaluate(label))
    for name in (
        "Select: drag",
        "Search events",
        "Filter by",
        "Overview of the whole",
        "Timeline: 4 events",
        "Zoom in",
    ):
        assert any(found.startswith(name) for found in seen), (name, seen)
    unnamed = "() => [...document.querySelectorAll('button, input, canvas')].filter((e) => !(e.ariaLabel || e.innerText"
    assert fake.page.evaluate(unnamed + " || e.labels?.length)).length") == 0


def test_a_click_on_a_step_shows_it(host, tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(4):
        python.event("train", start_us=250 * number, duration_us=240, step_num=number, _r=1)
    fake = host("trace")
    fake.show(TraceWidget(tp.load(space.write(tmp_path / "host.xplane.pb")).trace))
    canvas_of(fake).click(position={"x": LABELS_PX + 800 * 0.6, "y": 8})
    fake.wait_for("time_range", [500e6, 740e6])
