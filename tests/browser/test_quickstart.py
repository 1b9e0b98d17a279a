"""The quickstart as its reader meets it: run in JupyterLab, then saved and opened again."""

import ast
import json
import re

import pytest
from playwright.sync_api import expect

from browser.lab import open_page

pytestmark = pytest.mark.timeout(1800)

STEPS = 40  # 320 images in batches of 32, four epochs
# What JupyterLab puts in the place of a saved widget, hidden by our rule. It does not look at widgets without trust.
IN_ITS_PLACE = {"fresh kernel": "model not found", "no kernel": "Loading widget"}
BROKEN = re.compile("model not found|Error displaying widget|Loading widget", re.IGNORECASE)


@pytest.fixture(scope="module")
def quickstart(open_lab, root):
    """The quickstart, run and saved."""
    lab = open_lab(root / "notebooks" / "00_quickstart.ipynb")
    with lab.evidence("quickstart"):
        lab.run_all()
        lab.save()
    return lab


@pytest.fixture(scope="module")
def answer(quickstart):
    """How the first profile's answer begins, whatever it is on this machine."""
    return ast.literal_eval(quickstart.ask("str(baseline).splitlines()[2][:40]"))


@pytest.fixture
def baseline(quickstart):
    """The dashboard of the first profile."""
    with quickstart.evidence("quickstart"):
        view = quickstart.page.locator(".tfp-view").first
        view.locator(".bqplot .bargroup").first.wait_for(state="attached")
        yield view


@pytest.fixture(scope="module")
def saved(quickstart, notebooks_folder):
    """The notebook's text as it was saved."""
    return (notebooks_folder / "00_quickstart.ipynb").read_text(encoding="utf-8")


def test_both_profiles_show_their_dashboard_and_then_how_they_compare(quickstart, baseline, answer):
    views = quickstart.page.locator(".tfp-view")
    assert views.count() == 3
    assert answer in baseline.inner_text()
    assert "one example took" in views.last.inner_text()


def test_the_step_chart_has_a_bar_for_every_step(baseline):
    chart = baseline.locator(".bqplot.figure").first
    bars = chart.locator(".bargroup").evaluate_all("bars => bars.map((bar) => bar.getAttribute('transform'))")
    assert len(set(bars)) == STEPS  # what lies below a pale bar stands at its place


def test_the_static_form_makes_room_for_the_widget(quickstart, baseline):
    assert quickstart.page.locator("[id^=tfp-static]:visible").count() == 0


def test_the_trace_is_drawn(quickstart, baseline):
    open_page(baseline, "Trace")
    canvas = baseline.locator(".tfp-trace canvas").first
    canvas.wait_for()
    quickstart.wait_for_colors(canvas, 5)
    quickstart.screenshot("quickstart-trace")
    open_page(baseline, "Answer")


def test_the_dark_theme_shows_the_same(quickstart, baseline, answer):
    for theme in ("Dark", "Light"):
        quickstart.change_theme(theme)
        quickstart.screenshot(f"quickstart-{theme.lower()}")
    assert answer in baseline.inner_text()


def test_scripts_complain_about_nothing(quickstart, baseline):
    assert quickstart.errors == []


def test_the_saved_notebook_is_small(saved):
    assert len(saved) < 2_000_000


@pytest.fixture(scope="module")
def again(open_lab, answer):
    """A JupyterLab in which the notebook is opened again and again; it knows nothing of the first."""
    return open_lab()


@pytest.mark.parametrize("situation", ["fresh kernel", "no kernel", "untrusted"])
def test_opened_again_it_still_says_what_was_found(again, saved, answer, notebooks_folder, situation):
    notebook = json.loads(saved)
    if situation == "untrusted":  # JupyterLab trusts the outputs that it saw being made, until they change
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"]) + "\n"
            for output in cell.get("outputs", []):
                output.setdefault("metadata", {})["from"] = "elsewhere"
    path = notebooks_folder / f"{situation.replace(' ', '-')}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    lab = again
    with lab.evidence(path.stem):
        lab.open_alone(path.name, kernel=situation != "no kernel")
        lab.page.get_by_text(answer).first.wait_for()
        if situation == "untrusted":
            lab.ask("0")  # JupyterLab asked the kernel for its widgets before
        else:
            expect(lab.page.get_by_text(IN_ITS_PLACE[situation])).to_have_count(saved.count("widget-view+json"))
        lab.screenshot(f"quickstart-{path.stem}")
        assert lab.page.locator(".jp-OutputArea-output img:visible").count() > 0
        assert lab.page.get_by_text(BROKEN).locator("visible=true").count() == 0
