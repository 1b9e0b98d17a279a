"""The trace viewer with more events than it shows at once, and without a kernel."""

import random
import re

import pytest

import tfprof_nb as tp
from browser.trace_driver import LABELS_PX, canvas_of, connect, range_rows, selected_name
from builders import XSpace
from tfprof_nb.render.browser_widgets import TraceWidget
from tfprof_nb.render.bundle import report_viewers
from tfprof_nb.render.embedded import embedded_timeline


@pytest.fixture
def large(host, tmp_path, monkeypatch):
    """A viewer of a trace that counts as too large to be sent whole; its kernel answers when connected."""
    monkeypatch.setattr("tfprof_nb.analysis.trace.trace.WHOLE_EVENTS", 100)
    monkeypatch.setattr("tfprof_nb.analysis.trace.trace.COARSE_BINS", 64)
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for number in range(4000):
        line.event("MatMul" if number != 1234 else "needle", start_us=number, duration_us=0.5)
    widget = TraceWidget(tp.load(space.write(tmp_path / "host.xplane.pb")).trace)
    fake = host("trace")
    fake.show(widget)
    return fake, canvas_of(fake), widget


def test_a_large_trace_shows_merged_events_and_single_ones_when_the_kernel_answers(large):
    fake, canvas, widget = large
    connect(fake, widget)
    fake.page.get_by_text("drawn merged with their neighbours").wait_for()
    fake.set("time_range", [1000e6, 1010e6])
    fake.page.get_by_text(re.compile(r"shorter than [\d.]+ ns are")).wait_for()
    canvas.click(position={"x": LABELS_PX + 792 * 0.425, "y": 20 + 22 + 8})
    details = fake.page.get_by_label("Selected event")
    assert re.search(r"Duration\s+500 ns", details.inner_text())
    assert fake.get("selected_event") == 1004


def test_a_search_in_a_large_trace_finds_what_is_merged(large):
    fake, _, widget = large
    connect(fake, widget)
    search = fake.page.get_by_role("searchbox")
    search.fill("needle")
    assert "1 hit" in fake.page.locator(".tfp-toolbar").inner_text()
    search.press("Enter")
    fake.wait_for("selected_event", 1234)
    assert selected_name(fake) == "needle"


def test_a_range_of_a_large_trace_is_added_up_by_the_kernel(large):
    fake, canvas, widget = large
    connect(fake, widget)
    canvas.focus()
    canvas.press("m")
    fake.page.locator(".tfp-range table").wait_for()
    assert [row[:3] for row in range_rows(fake)] == [["MatMul", "3,999", "2.00 ms"], ["needle", "1", "500 ns"]]


def test_without_a_kernel_a_large_trace_stays_explorable(large):
    fake, canvas, _ = large
    fake.set("time_range", [1000e6, 1200e6])
    fake.page.get_by_text("The kernel sends more detail when it is free").wait_for()
    canvas.click(position={"x": LABELS_PX + 792 * 0.5, "y": 20 + 22 + 8})
    assert re.search(r"Merged\s+\d+ short events drawn as one", fake.page.get_by_label("Selected event").inner_text())
    canvas.press("0")
    fake.wait_for("time_range", None)


def test_a_page_of_its_own_shows_the_timeline_without_a_kernel(chromium, tmp_path):
    space = XSpace()
    line, rng = space.plane("/host:CPU").line("python"), random.Random(0)
    for number in range(20_000):
        line.event(f"op{number % 7}", start_us=number, duration_us=rng.random())
    html = embedded_timeline(tp.load(space.write(tmp_path / "host.xplane.pb")).trace, 30_000)
    assert len(html) < 30_000
    file = tmp_path / "report.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><h1>Report</h1>{html}{report_viewers()}", encoding="utf-8")
    page = chromium.new_page(viewport={"width": 1018, "height": 800})
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    canvas = page.locator(".tfp-canvas")
    canvas.wait_for()
    page.wait_for_function("() => document.querySelector('.tfp-canvas').width > 900")
    assert "Of 20,000 events" in page.locator(".tfp-trace").inner_text()
    canvas.click(position={"x": 500, "y": 50})
    canvas.press("w")
    assert page.get_by_label("Selected event").is_visible()
    assert (complaints, requests) == ([], [file.as_uri()])
    page.close()
