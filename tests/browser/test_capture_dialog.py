"""The capture dialog in a real JupyterLab, asking a real program that trains in a process of its own."""

import re

import nbformat
import pytest

from browser.lab import open_page
from capture.ports import free_ports

SHOW = """
import tfprof_nb as tp

dialog = tp.CaptureDialog({addresses!r}, seconds=0.7)
dialog
"""


@pytest.fixture(scope="module")
def lab(open_lab, tmp_path_factory, program):
    path = tmp_path_factory.mktemp("dialog") / "capture_dialog.ipynb"
    cells = [nbformat.v4.new_code_cell(SHOW.format(addresses=program.addresses[0]))]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    opened = open_lab(path)
    with opened.evidence("capture_dialog"):
        opened.run_all()
        opened.page.get_by_role("button", name="Capture", exact=True).wait_for()
    return opened


def press_capture(lab):
    lab.page.get_by_role("button", name="Capture", exact=True).click()


def test_a_capture_shows_its_dashboard_below(lab):
    with lab.evidence("capture_dialog"):
        assert not lab.page.get_by_text("This dialog works in a notebook").is_visible()
        lab.screenshot("capture_dialog-empty")
        press_capture(lab)
        lab.page.locator(".tfp-view").wait_for()
        lab.page.get_by_text("Saved in").wait_for()
        lab.page.locator(".tfp-view svg rect.bar").first.wait_for()
        lab.wait_until_settled()  # bqplot complains where a chart is hidden while it is drawn
        open_page(lab.page.locator(".tfp-view"), "Ops")
        lab.page.get_by_text("op self time").first.wait_for()
        assert lab.errors == []


def test_it_can_be_read_in_both_themes(lab):
    with lab.evidence("capture_dialog"):
        open_page(lab.page.locator(".tfp-view"), "Answer")
        for theme in ("Dark", "Light"):
            lab.change_theme(theme)
            lab.screenshot(f"capture_dialog-{theme.lower()}")


def test_a_worker_that_is_down_is_named_beside_the_others_data(lab, program):
    (down,) = free_ports(1)
    with lab.evidence("capture_dialog"):
        lab.page.get_by_label("Workers").fill(f"{program.addresses[0]}, 127.0.0.1:{down}")
        lab.page.get_by_label("Workers").press("Tab")
        press_capture(lab)
        lab.page.get_by_text(f"127.0.0.1:{down} cannot be reached").wait_for()
        assert lab.page.locator(".tfp-view").count() == 1
        lab.screenshot("capture_dialog-down")


def test_a_capture_can_be_cancelled_and_what_was_there_stays(lab, program):
    with lab.evidence("capture_dialog"):
        lab.page.get_by_label("Workers").fill(program.addresses[0])
        lab.page.get_by_label("Duration (s)").fill("60")
        lab.page.get_by_label("Duration (s)").press("Tab")
        press_capture(lab)
        lab.page.get_by_text(re.compile(r"(0\.[1-9]|[1-9]\d*\.\d) of 60 s")).wait_for()
        lab.page.get_by_role("button", name="Cancel", exact=True).click()
        lab.page.get_by_text("The capture was cancelled").wait_for()
        assert lab.page.locator(".tfp-view").count() == 1
        assert lab.errors == []
