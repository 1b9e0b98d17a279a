"""The seat in a real JupyterLab: what fits on one screen, what can be read, and what is left when the kernel ends."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from browser.lab import KERNEL, open_page

SETUP = """%load_ext tfprof_nb
import time, tensorflow as tf, tfprof_nb as tp
def train():
    for i in range(40):
        with tp.step(i):
            tf.square(2.0)
            time.sleep(3 if i == 20 else 0.02)
"""
FIT = """%load_ext tfprof_nb
import time, keras, numpy as np, tensorflow as tf
def slow(x):
    time.sleep(0.01)
    return x
def prepare(x, y):
    return tf.ensure_shape(tf.numpy_function(slow, [x], tf.float32), (64,)), y
x, y = np.random.rand(160, 64).astype("float32"), np.zeros((160, 1), "float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).map(prepare).batch(8)
model = keras.Sequential([keras.layers.Dense(512, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")"""
CELLS = [SETUP, "%%tfprofile baseline\ntrain()", "tp.find_runs('tfprof_logs')", "%%tfprofile --"]
# By how much the highest header cell is higher than its row.
OVERLAP = """grids => Math.max(...grids.map((grid) => {
    const row = grid.querySelector('.tfp-header').getBoundingClientRect().bottom;
    const first = grid.querySelector('.tfp-body').getBoundingClientRect().top;
    return Math.max(row - first, ...[...grid.querySelectorAll('.tfp-sort')].map((cell) =>
        cell.getBoundingClientRect().height - grid.querySelector('.tfp-header').getBoundingClientRect().height));
}))"""
# Titles of tables whose first column with a number that is no count and no line is out of sight.
UNSEEN = """grids => grids.filter((grid) => {
    const header = [...grid.querySelectorAll('.tfp-header .tfp-cell:not([hidden])')];
    const number = header.find((cell) => cell.classList.contains('tfp-number')
        && !['line', 'step', 'pipeline', 'count', 'calls', 'runs'].includes(cell.textContent));
    return number && number.getBoundingClientRect().right > grid.getBoundingClientRect().right + 1;
}).map((grid) => grid.getAttribute('aria-label'))"""
TICKS = "ticks => ticks.map((tick) => parseFloat(tick.textContent.replace(',', ''))).filter((value) => value >= 0)"


@pytest.fixture(scope="module")
def lab(open_lab, tmp_path_factory):
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    path = tmp_path_factory.mktemp("seat") / "one_screen.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    lab = open_lab(path)
    with lab.evidence("one_screen"):
        for _ in CELLS[:-1]:
            lab.execute("notebook:run-cell-and-select-next")
        lab.page.locator(".tfp-view").nth(1).locator(".tfp-tabs").first.wait_for()
        lab.wait_until_settled()
    return lab


@pytest.fixture(scope="module")
def fit(open_lab, tmp_path_factory):
    """A model that waits for its data."""
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(text) for text in (FIT, "%%tfprofile\nmodel.fit(data, verbose=0)")]
    path = tmp_path_factory.mktemp("seat") / "fit.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    lab = open_lab(path)
    with lab.evidence("one_screen-fit"):
        lab.run_all()
        lab.page.locator(".tfp-view .tfp-tabs").first.wait_for()
        lab.wait_until_settled()
    return lab


def opened(lab, name):
    view = lab.page.locator(".tfp-view").first
    open_page(view, name)
    lab.wait_until_settled()
    return view


def test_one_slow_step_does_not_flatten_the_others(lab):
    with lab.evidence("one_screen"):
        view = opened(lab, "Answer")
        ticks = view.locator(".bqplot .axis:nth-child(2) .tick text, .bqplot g.axis .tick text").evaluate_all(TICKS)
        assert ticks
        assert max(ticks) < 1500  # the slow step takes 3,000 ms
        expect(view.locator(".bqplot text", has_text=re.compile(r"^3\.\d+ s$"))).to_have_count(1)
        lab.screenshot("one_screen-overview")


def test_the_place_and_size_are_said_and_the_menu_of_runs_knows_the_name(lab):
    expect(lab.page.locator(".tfp-view").first).to_contain_text("Saved in tfprof_logs")
    option = lab.page.get_by_role("combobox", name="run").locator("option").first
    expect(option).to_have_text(re.compile(r"^baseline · \d{4}-\d\d-\d\d .* · 40 steps$"))


def test_the_answer_is_one_line_off_the_overview(lab):
    with lab.evidence("one_screen"):
        lab.page.set_viewport_size({"width": 600, "height": 900})
        view = opened(lab, "Answer")
        answer = view.locator(".tfp-answer").first
        whole = answer.bounding_box()["height"]
        opened(lab, "Steps")
        view.locator(".tfp-grid:visible .tfp-header").first.wait_for()
        assert answer.bounding_box()["height"] < 30 < whole
        assert view.locator(".tfp-grid:visible").evaluate_all(OVERLAP) <= 0.5
        lab.screenshot("one_screen-steps", width=600)
        lab.page.set_viewport_size({"width": 1280, "height": 900})


def test_a_narrow_window_shows_the_numbers_of_every_table(fit):
    with fit.evidence("one_screen-narrow"):
        fit.page.set_viewport_size({"width": 600, "height": 900})
        view = fit.page.locator(".tfp-view").first
        for name in ("Steps", "Lines", "Python", "Waiting", "tf.data", "Ops", "Functions", "Layers"):
            opened(fit, name)
            view.locator(".tfp-grid:visible").last.wait_for()
            fit.wait_until_settled()
            assert view.locator(".tfp-grid:visible").evaluate_all(UNSEEN) == [], name


def test_the_change_stands_once_above_what_the_cell_is_made_of_and_the_steps(fit):
    view = opened(fit, "Answer")
    answer, diff = view.locator(".tfp-answer").first, view.locator(".tfp-diff:visible")
    expect(diff).to_contain_text("num_parallel_calls")
    expect(diff).to_have_count(1)
    texts = ("^The cell:", "^What a step is made of", "^Step time")
    below = [view.get_by_text(re.compile(text)).locator("visible=true").first for text in texts]
    places = [part.bounding_box()["y"] for part in (answer, diff, *below)]
    assert places == sorted(places)


def test_what_a_long_line_changes_is_seen_in_a_narrow_window(fit):
    with fit.evidence("one_screen-diff"):
        fit.page.set_viewport_size({"width": 600, "height": 900})
        diff = opened(fit, "Answer").locator(".tfp-diff:visible")
        seen, changed = diff.bounding_box(), diff.locator("b").bounding_box()
        fit.page.screenshot(path=fit.artifacts / "one_screen-diff.png")
        assert changed["x"] + changed["width"] <= seen["x"] + seen["width"]
        assert diff.evaluate("diff => diff.scrollWidth <= diff.clientWidth")
        parts = fit.page.locator(
            ".tfp-view div[title]:visible", has=fit.page.locator("span", has_text=re.compile("line \\d+$"))
        )
        assert parts.count()
        assert parts.evaluate_all("parts => parts.every((part) => part.scrollWidth <= part.clientWidth)"), (
            "lines are told"
        )
        wide = ".tfp-view .widget-html-content:visible"
        assert fit.page.locator(wide).evaluate_all(
            "all => all.every((one) => one.scrollWidth <= one.parentElement.clientWidth)"
        ), "nothing is wider than the page"
        fit.page.set_viewport_size({"width": 1280, "height": 900})


def test_a_chart_out_of_sight_follows_the_width_of_the_page(lab):
    with lab.evidence("one_screen-resized"):
        lab.page.set_viewport_size({"width": 1280, "height": 300})
        view = opened(lab, "Answer")
        view.evaluate("view => view.scrollIntoView()")
        lab.page.set_viewport_size({"width": 700, "height": 300})
        lab.wait_until_settled()
        chart = view.locator(".bqplot.figure:visible").bounding_box()
        assert chart["y"] > 300
        assert chart["width"] < 700
        lab.page.set_viewport_size({"width": 1280, "height": 1200})
        lab.wait_until_settled()
        lab.page.set_viewport_size({"width": 600, "height": 300})  # it leaves the window as it becomes narrow
        lab.wait_until_settled()
        lab.page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize(("page", "boxes"), [("Layers", 2), ("tf.data", 3)])
def test_boxes_of_a_model_and_of_a_pipeline_use_the_width_and_fill_the_screen(fit, page, boxes):
    with fit.evidence("one_screen-boxes"):
        fit.page.set_viewport_size({"width": 1400, "height": 900})
        view = opened(fit, page)
        drawn = view.locator(".tfp-network:visible")
        chained = drawn.locator(".tfp-chained")
        expect(chained.nth(boxes - 1)).to_be_visible()
        widths = [box.bounding_box()["width"] for box in chained.all()]
        assert min(widths) > 0.9 * view.bounding_box()["width"]
        fit.page.set_viewport_size({"width": 600, "height": 900})
        for box in chained.all():
            share, place = box.get_by_text(re.compile(r"^<?[\d.]+%$")).bounding_box(), box.bounding_box()
            assert share["y"] < place["y"] + 12, "it stands in the first line"
            assert share["x"] + share["width"] < place["x"] + place["width"]
        enlarge = drawn.get_by_role("button", name="Fill the screen")
        enlarge.click()
        fit.page.wait_for_function("() => document.fullscreenElement?.matches('.tfp-network')")
        assert drawn.bounding_box()["x"] == 0
        enlarge.click()
        fit.page.wait_for_function("() => !document.fullscreenElement")
        fit.page.set_viewport_size({"width": 1280, "height": 900})


def test_details_stand_beside_the_trace_in_a_low_window(lab):
    with lab.evidence("one_screen"):
        view = opened(lab, "Trace")
        search = view.get_by_label("Search events by name")
        search.fill("Square")
        search.press("Enter")
        details = view.get_by_label("Selected event")
        details.wait_for()
        stage = view.locator(".tfp-stage")
        assert details.bounding_box()["y"] >= stage.bounding_box()["y"] + stage.bounding_box()["height"] - 1
        lab.page.set_viewport_size({"width": 1280, "height": 640})
        lab.wait_until_settled()
        assert details.bounding_box()["x"] >= stage.bounding_box()["x"] + stage.bounding_box()["width"] - 1
        lab.page.screenshot(path=lab.artifacts / "one_screen-low.png")
        lab.page.set_viewport_size({"width": 1280, "height": 900})


def test_tab_offers_the_options_alone(lab):
    with lab.evidence("one_screen"):
        lab.page.locator(".jp-CodeCell .cm-content").nth(3).click()
        lab.page.keyboard.press("Control+End")
        lab.page.keyboard.press("Tab")
        lab.page.locator(".jp-Completer-item").first.wait_for()
        offered = lab.page.locator(".jp-Completer-item code").all_inner_texts()
        assert "--warmup" in offered
        assert not {"abs", "%alias", "and"} & set(offered)
        lab.page.keyboard.press("Escape")


def test_tab_offers_runs_each_with_what_it_is_in_one_line(lab):
    with lab.evidence("one_screen"):
        lab.page.locator(".jp-CodeCell .cm-content").nth(3).click()
        lab.page.keyboard.press("Control+a")
        lab.page.keyboard.type("%tfprofile_load ")
        lab.page.keyboard.press("Tab")
        offer = lab.page.locator(".jp-Completer-item", has_text="baseline").first
        what = offer.locator(".jp-Completer-typeExtended")
        expect(what).to_contain_text(re.compile("^baseline.*40.steps$"))
        assert what.evaluate("node => node.scrollHeight <= node.closest('li').clientHeight"), "it is one line"
        lab.page.screenshot(path=lab.artifacts / "one_screen-runs.png")
        lab.page.keyboard.press("Escape")


def test_a_page_that_the_ended_kernel_did_not_make_says_what_to_do(lab):
    with lab.evidence("one_screen"):
        restart = "window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()"
        lab.page.evaluate(f"() => {restart}")
        open_page(lab.page.locator(".tfp-view").first, "Memory")
        lab.page.get_by_text("Run the cell again").locator("visible=true").first.wait_for()
        assert not lab.page.get_by_text("Loading …").locator("visible=true").count()


def places_of_flame(lab):
    """Left edge, top and width of the flame graph in sight, and of its table."""
    flame = lab.page.locator(".tfp-flame:visible").first.bounding_box()
    table = lab.page.locator(".jp-OutputArea .tfp-table:visible").last.bounding_box()
    return flame, table


def test_the_table_of_a_flame_graph_stands_beside_it_where_there_is_room(fit):
    with fit.evidence("flame-beside"):
        fit.page.set_viewport_size({"width": 1500, "height": 900})
        opened(fit, "Flame graph")
        fit.wait_until_settled()
        flame, table = places_of_flame(fit)
        assert table["x"] > flame["x"] + flame["width"]
        assert abs(table["y"] - flame["y"]) < 4
        assert flame["width"] > table["width"] > 400
        fit.page.set_viewport_size({"width": 800, "height": 900})
        fit.wait_until_settled()
        flame, table = places_of_flame(fit)
        assert table["x"] == flame["x"]
        assert table["y"] > flame["y"] + flame["height"]
        fit.page.set_viewport_size({"width": 1400, "height": 900})


def test_of_two_offers_one_is_the_one_to_take(fit):
    with fit.evidence("one_screen-offers"):
        view = opened(fit, "Answer")
        colors = [
            view.get_by_role("button", name=name).evaluate("button => getComputedStyle(button).backgroundColor")
            for name in ("Try it", "Measure it")
        ]
        assert colors[0] != colors[1] == "rgba(0, 0, 0, 0)"


def test_after_its_kernel_ended_a_view_says_so_once_and_offers_nothing_to_run(fit):
    with fit.evidence("one_screen-ended"):
        opened(fit, "Answer")
        measure = fit.page.get_by_role("button", name="Measure it")
        expect(measure).to_be_visible()
        fit.page.evaluate(f"() => {KERNEL}.restart()")
        expect(measure).to_be_hidden()
        ended = fit.page.locator(".tfp-view .tfp-ended")
        expect(ended).to_contain_text("has ended")
        expect(ended).to_be_visible()
        expect(ended).to_contain_text("%load_ext tfprof_nb\n%tfprofile_load tfprof_logs/plugins/profile/")
        widgets = fit.page.locator(".jupyter-widgets-disconnected")
        icons = "nodes => nodes.filter((node) => getComputedStyle(node, '::before').content !== 'none').length"
        assert widgets.count() > 10
        assert widgets.evaluate_all(icons) == 0
        fit.page.screenshot(path=fit.artifacts / "one_screen-ended.png")
