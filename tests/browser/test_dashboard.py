"""Every page of a dashboard in a real JupyterLab: hostile names, both themes, axe, no internet."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from browser.lab import KERNEL, open_page, open_tab, page_tabs
from builders import XSpace

HOSTILE = '<img src=x onerror="window.hacked=1">\'&</script> 🚀' + "n" * 10_000
SHOW = "import tfprof_nb as tp\np = tp.load({files!r}, name='hostile')\np"
TWICE = ["steps = p.host('beta').steps.view()\nsteps", "steps"]
# Only what people with a screen reader or a keyboard can't get past.
AXE = """async (view) => {
    const found = await axe.run(view, {resultTypes: ['violations']});
    const grave = found.violations.filter((rule) => ['serious', 'critical'].includes(rule.impact));
    const where = (rule) => rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 300));
    return grave.map((rule) => `${rule.id}: ${rule.help}; ${where(rule)}`);
}"""

# Scroll bars other than those of tables: they come with the smallest overflow, and headless browsers hide them.
BARS = """(view) => [...view.querySelectorAll('.widget-box')].filter((box) => box.checkVisibility()
    && /auto|scroll/.test(getComputedStyle(box).overflowY) && box.scrollHeight > box.clientHeight)
    .map((box) => box.className)"""

# By how much the longest row of tabs is longer than its place.
CUT = "rows => Math.max(...rows.map((row) => row.scrollWidth - row.clientWidth))"


def profile(path):
    """Three steps that wait for data, with kernels on a GPU and memory, every name of them hostile."""
    space = XSpace()
    host = space.plane("/host:CPU")
    python, threads = host.line("python " + HOSTILE[:60], line_id=1), host.line("tf_data " + HOSTILE[:60], line_id=2)
    stream = space.plane("/device:GPU:0").line("Stream #1(compute)", line_id=1)
    for step in range(3):
        at = 1000 * step
        python.event("train", start_us=at, duration_us=900, step_num=step, _r=1)
        python.event("IteratorGetNextOp::DoCompute", start_us=at + 5, duration_us=400)
        threads.event("Iterator::" + HOSTILE, start_us=at + 10, duration_us=380, id=7, parent_id=0)
        python.event(f"{HOSTILE}:MatMul", start_us=at + 500, duration_us=300)
        python.event("cuLaunchKernel", start_us=at + 600, duration_us=10, correlation_id=step)
        stream.event(
            "kernel " + HOSTILE, start_us=at + 700, duration_us=100, correlation_id=step, tf_op=f"{HOSTILE}:MatMul"
        )
        allocation = {"allocator_name": HOSTILE, "tf_op": HOSTILE, "requested_bytes": 1024, "allocation_bytes": 1024}
        state = {"bytes_allocated": 1024, "bytes_available": 4096, "peak_bytes": 1024, "fragmentation": 0.0}
        python.event("MemoryAllocation", start_us=at + 500, duration_us=0, **allocation, **state)
    return space.write(path)


@pytest.fixture(scope="module")
def lab(open_lab, tmp_path_factory):
    """A notebook that shows the profile of two hosts; the page reaches nothing but the Jupyter server."""
    folder = tmp_path_factory.mktemp("hostile")
    files = [str(profile(folder / f"{host}.xplane.pb")) for host in ("<b>alpha", "beta")]
    cells = [nbformat.v4.new_code_cell(text) for text in (SHOW.format(files=files), *TWICE)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), folder / "dashboard.ipynb")
    lab = open_lab(folder / "dashboard.ipynb")
    lab.fetched = []
    lab.page.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), lambda route: (lab.fetched.append(1), route.abort()))
    with lab.evidence("dashboard"):
        lab.run_all()
        lab.page.locator(".tfp-tabs").first.wait_for()
    return lab


@pytest.fixture(scope="module")
def axe(root, lab):
    """Put axe into the page. JupyterLab's body has no height, so that axe would take all text for clipped."""
    lab.page.add_style_tag(content="body { min-height: 100vh; }")
    lab.page.add_script_tag(path=root / "js" / "node_modules" / "axe-core" / "axe.min.js")


def pages(lab):
    """Open each page; yield its name and its element."""
    for tab in page_tabs(lab.page.locator(".tfp-view").first).all():
        name = open_tab(tab)
        panel = lab.page.locator(f"#{tab.get_attribute('aria-controls')}")
        panel.wait_for()
        lab.wait_until_settled()
        yield name, panel


def opened(lab, name):
    """Open the page of that name, and return its element."""
    open_page(lab.page.locator(".tfp-view").first, name)
    lab.wait_until_settled()
    return lab.page.locator("[role=tabpanel]:visible").last


@pytest.mark.parametrize("theme", ["Dark", "Light"])  # other tests begin with the last one
def test_every_page_is_shown_and_can_be_used_by_everyone(lab, axe, theme):
    with lab.evidence(f"dashboard-{theme}"):
        lab.change_theme(theme)
        for name, panel in pages(lab):
            assert panel.inner_text().strip(), name
            assert "can't be shown" not in panel.inner_text()
            lab.screenshot(f"dashboard-{theme.lower()}-{name.lower().replace('.', '')}")
            view = lab.page.locator(".tfp-view").first
            assert view.evaluate(AXE) == [], name
            assert view.evaluate(BARS) == [], name


def test_hostile_names_are_text(lab):
    opened(lab, "Ops")
    assert lab.page.locator(".tfp-view").first.get_by_text("<img src=x").count() > 0
    assert lab.page.evaluate("() => window.hacked") is None
    assert lab.page.locator(".tfp-view img[src=x]").count() == 0


def test_a_host_can_be_chosen_for_all_pages(lab):
    menu = lab.page.get_by_role("combobox", name="hosts")
    assert menu.locator("option").all_inner_texts() == ["all 2", "<b>alpha", "beta"]
    view = lab.page.locator(".tfp-view").first
    pods = page_tabs(view).filter(has_text=re.compile("^Pods$"))
    expect(pods).to_have_count(1)
    menu.select_option("beta")
    expect(pods).to_have_count(0)
    opened(lab, "Ops")
    menu.select_option("all 2")
    expect(pods).to_have_count(1)


def test_a_finding_opens_the_trace_at_the_wait(lab):
    opened(lab, "Answer")
    lab.page.get_by_role("button", name="Show in the trace").first.click()
    selected = lab.page.locator(".tfp-tab[aria-selected=true]:visible")
    expect(selected).to_have_text([re.compile("^Timeline"), "Trace"])
    search = lab.page.locator(".tfp-trace input").first
    expect(search).to_have_value(re.compile("^Iterator::"))
    selected = lab.page.get_by_label("Selected event").locator("strong")
    expect(selected).to_have_text(re.compile("^Iterator::"))


def test_pages_that_were_opened_are_shown_while_a_cell_runs(lab):
    texts = {"Steps": "median step", "Ops": "distinct ops", "Trace": "Pan"}
    for name in texts:
        opened(lab, name)
    sleep = "requestExecute({code: 'import time; time.sleep(600)'}).done.finally(() => { window.slept = true; })"
    lab.page.evaluate(f"() => {{ window.slept = false; {KERNEL}.{sleep}; }}")
    try:
        for name, text in texts.items():
            open_page(lab.page.locator(".tfp-view").first, name)
            lab.page.get_by_text(text, exact=True).locator("visible=true").first.wait_for()
        assert not lab.page.evaluate("() => window.slept")
    finally:
        lab.page.evaluate(f"() => {KERNEL}.interrupt()")
    lab.page.wait_for_function("() => window.slept")


def test_a_chart_has_its_numbers_as_a_table(lab):
    panel = opened(lab, "Steps")
    panel.get_by_text("Numbers").first.click()
    rows = panel.locator(".tfp-numbers tr:visible")
    expect(rows).to_have_count(4)  # the header and three steps
    assert lab.page.get_by_role("img", name="Step time").count() > 0


def test_memory_begins_with_its_peak_and_shows_one_table_at_a_time(lab):
    with lab.evidence("dashboard-memory"):
        opened(lab, "Memory")
        view = lab.page.locator(".tfp-view").first
        answer = view.get_by_text(re.compile("peaks at 1.00 KiB")).locator("visible=true").last
        grid = view.locator("[role=grid]:visible")
        expect(grid).to_have_count(1)
        assert answer.bounding_box()["y"] < view.locator(".bqplot.figure:visible").bounding_box()["y"]
        expect(grid.get_by_role("columnheader", name="event")).to_have_count(0)
        view.get_by_role("tab", name="every allocation").locator("visible=true").click()
        expect(grid).to_have_count(1)
        expect(grid.get_by_role("columnheader", name="event")).to_be_visible()


@pytest.mark.parametrize("width", [600, 1600])
def test_pages_fit_narrow_and_wide_windows(lab, width):
    lab.page.set_viewport_size({"width": width, "height": 900})
    for name, _ in pages(lab):
        lab.screenshot(f"dashboard-{width}-{name.lower().replace('.', '')}", width=width)
        view = lab.page.locator(".tfp-view").first
        assert view.evaluate("(view) => view.scrollWidth - view.clientWidth") <= 1, name
        assert view.locator(".tfp-tabs:visible").evaluate_all(CUT) <= 0, name
    lab.page.set_viewport_size({"width": 1280, "height": 900})


def test_every_static_form_of_a_view_makes_room_for_it(lab):
    assert lab.page.locator("[id^=tfp-static]").count() == 3
    assert lab.page.locator("[id^=tfp-static]:visible").count() == 0


def test_nothing_was_fetched_and_no_script_complained(lab):
    assert lab.fetched == []
    assert lab.errors == []
