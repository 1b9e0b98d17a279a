"""A report opened from disk, without a network: its tables sort and search, its timeline moves, links lead on."""

import re

import pytest

import tfprof_nb as tp
from browser.lab import open_page
from browser.trace_driver import wait_until_drawn
from builders import XSpace


@pytest.fixture
def report(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python", line_id=1)
    for step in range(12):
        python.event("train", start_us=1000 * step, duration_us=900, step_num=step, _r=1)
        python.event("IteratorGetNextOp::DoCompute", start_us=1000 * step + 5, duration_us=400 + step)
        python.event(f"MatMul_{step}:MatMul", start_us=1000 * step + 500, duration_us=10 * (step + 1))
    return tp.load(space.write(tmp_path / "host.xplane.pb")).to_html(tmp_path / "report.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_is_worked_with_offline(chromium, report, artifacts, scheme):
    page, complaints, fetched = chromium.new_page(color_scheme=scheme), [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(report.as_uri())
    open_page(page.locator("body"), "Ops")
    ops = page.locator("#page-ops .tfp-table")
    ops.get_by_role("searchbox").fill("MatMul_1")
    ops.get_by_text("3 of 12 rows").wait_for()  # MatMul_1, MatMul_10, MatMul_11
    open_page(page.locator("body"), "Trace")
    canvas = page.locator("#page-trace canvas").last
    canvas.scroll_into_view_if_needed()
    wait_until_drawn(page)
    before = canvas.screenshot()
    for x in (250, 300):
        canvas.hover(position={"x": x, "y": 60})
    page.keyboard.press("w")
    wait_until_drawn(page)
    assert canvas.screenshot() != before
    assert page.locator(".tfp-plain:visible").count() == 0
    page.screenshot(path=artifacts / f"report-{scheme}.png", full_page=True)
    open_page(page.locator("body"), "Answer")
    page.get_by_role("link", name="Show in Waiting").first.click()
    page.locator("#page-waiting").wait_for()
    assert complaints == []
    assert {url.partition("#")[0] for url in fetched} == {report.as_uri()}
    page.close()


def test_the_frame_of_a_report_is_as_high_as_its_page(chromium, report, tmp_path):
    """As marimo shows what `_repr_html_` returns."""
    p = tp.load(tmp_path)
    page = chromium.new_page()
    page.set_content(f"<!doctype html><div>{p._repr_html_()}</div>")
    frame = page.frame_locator("iframe")
    frame.get_by_role("tab", name="Steps", exact=True).click()
    page.wait_for_function(
        "() => { const frame = document.querySelector('iframe'), body = frame.contentDocument.body;"
        "return frame.offsetHeight > 600 && frame.offsetHeight === body.offsetHeight }"
    )
    page.close()


def test_without_script_a_report_shows_pictures_and_rows(chromium, report):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(report.as_uri())
    assert page.locator("#page-ops").get_by_text("MatMul_11").first.is_visible()
    assert page.locator("#page-trace img").first.is_visible()
    page.close()


@pytest.fixture
def pod(tmp_path):
    """A report of two hosts; each has two allocators, and a pipeline with two slow calls."""
    for host, length in (("alpha", 400), ("beta", 800)):
        space = XSpace()
        python = space.plane("/host:CPU").line("python", line_id=1)
        for step in range(3):
            start = 1000 * step
            python.event("train", start_us=start, duration_us=length, step_num=step, _r=1)
            python.event(f"MatMul_{host}:MatMul", start_us=start + 200, duration_us=100)
            for name, size in (("gpu", 64), ("cpu", 16)):
                counts = {"bytes_allocated": 2**20 * (size + step), "bytes_available": 2**20, "fragmentation": 0.5}
                sizes = {"requested_bytes": 2**20, "allocation_bytes": 2**20, "bytes_reserved": 0, "addr": step}
                python.event("MemoryAllocation", start_us=start + 300, allocator_name=name, **counts, **sizes)
        reader = space.plane("/host:CPU").line("reader", line_id=2)
        for call in range(2):
            reader.event("Iterator::Root", start_us=1000 * call, duration_us=100 + 50 * call, id=10 * call + 1)
            place = {"start_us": 1000 * call + 1, "duration_us": 90, "id": 10 * call + 2, "parent_id": 10 * call + 1}
            reader.event("Iterator::Root::Map", **place)
        space.write(tmp_path / f"{host}.xplane.pb")
    return tp.load(tmp_path).to_html(tmp_path / "report.html")


def test_every_menu_of_a_report_works_offline(chromium, pod, artifacts):
    page, complaints = chromium.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(pod.as_uri())
    open_page(page.locator("body"), "Memory")
    page.locator("#page-memory").wait_for()
    # Which host of the run, and each menu within the pages of that host.
    page.get_by_role("combobox", name="hosts").select_option("beta")
    ops, memory = page.locator("#page-2-ops"), page.locator("#page-2-memory")
    open_page(page.locator("body"), "Ops")
    ops.get_by_text("MatMul_beta").filter(visible=True).first.wait_for()
    assert not page.locator("#page-ops").is_visible()
    ops.get_by_role("combobox", name="idle time").select_option("included")
    ops.get_by_text("IDLE").filter(visible=True).first.wait_for()
    open_page(page.locator("body"), "Memory")
    memory.get_by_role("combobox", name="allocator").select_option(index=1)
    memory.get_by_text(re.compile("^Memory in use.*: cpu")).first.wait_for()
    assert not memory.get_by_text(re.compile("^Memory in use.*: gpu")).first.is_visible()
    open_page(page.locator("body"), "tf.data")
    calls = page.locator("#page-2-tf-data").get_by_role("combobox", name="call")
    calls.select_option(index=2)
    # The shorter call waited 90 µs for the map, and 10 µs for the rest.
    boxes = page.locator("#page-2-tf-data .tfp-chained").filter(visible=True)
    boxes.filter(has_text=re.compile("^Map.*waited for 90.0 µs")).wait_for()
    boxes.filter(has_text="waited for 10.0 µs").wait_for()
    # The hosts' steps side by side, one by one.
    page.get_by_role("combobox", name="hosts").select_option(index=0)
    open_page(page.locator("body"), "Pods")
    slider = page.locator("#page-pods").get_by_role("slider")
    slider.fill("2")
    page.get_by_text("The hosts' step 1").first.wait_for()
    page.screenshot(path=artifacts / "report-menus.png", full_page=True)
    assert complaints == []
    page.close()


def test_a_pointer_on_a_chart_of_a_report_reads_its_values(chromium, report):
    page = chromium.new_page()
    page.goto(report.as_uri())
    open_page(page.locator("body"), "Steps")
    steps = page.locator("#page-steps")
    picture = steps.locator("img").first
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    steps.locator(".tfp-readout").first.wait_for()
    # The last of twelve bars, which are drawn from 52 to 844 of 860 pixels.
    picture.hover(position={"x": box["width"] * (52 + 792 * 11.5 / 12) / 860, "y": box["height"] / 2})
    steps.get_by_text("step 11", exact=True).wait_for()
    assert "input" in steps.locator(".tfp-readout").first.inner_text()
    page.close()
