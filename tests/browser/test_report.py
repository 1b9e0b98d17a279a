"""A report opened from disk, without a network: its tables sort and search, its timeline moves, links lead on."""

import pytest

import tfprof_nb as tp
from browser.trace_driver import wait_until_drawn
from builders import XSpace

pytestmark = pytest.mark.browser


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
    ops = page.locator("#page-ops .tfp-table")
    ops.get_by_role("searchbox").fill("MatMul_1")
    ops.get_by_text("3 of 12 rows").wait_for()  # MatMul_1, MatMul_10, MatMul_11
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
    page.get_by_role("link", name="Show in Input").first.click()
    assert page.url.endswith("#page-input")
    assert complaints == []
    assert {url.partition("#")[0] for url in fetched} == {report.as_uri()}
    page.close()


def test_without_script_a_report_shows_pictures_and_rows(chromium, report):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(report.as_uri())
    assert page.locator("#page-ops").get_by_text("MatMul_11").first.is_visible()
    assert page.locator("#page-trace img").first.is_visible()
    page.close()
