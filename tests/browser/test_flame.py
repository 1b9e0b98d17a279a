"""The flame graph in a real browser: zoom, search, keys."""

import pandas as pd
import pytest

from tfprof_nb.render.browser_widgets import FlameWidget
from tfprof_nb.render.panels import Flame

# all 100 = encoder 60 (attention 45) + decoder 30 + 10 of its own
ROWS = [
    ("all", 0, 0.0, 100.0, 10.0, "#999999"),
    ("encoder", 1, 0.0, 60.0, 15.0, "#0072B2"),
    ("<b>attention</b>", 2, 0.0, 45.0, 45.0, "#0072B2"),
    ("decoder", 1, 60.0, 30.0, 30.0, "#0072B2"),
]


@pytest.fixture
def flame(host):
    frame = pd.DataFrame(ROWS, columns=["name", "depth", "start", "total", "own", "color"])
    fake = host("flame")
    fake.show(FlameWidget(Flame("", frame, [("on the host", "#0072B2")])))
    return fake


def box(flame, name):
    return flame.page.get_by_role("treeitem", name=name, exact=True)


def shares(flame):
    """The width of each box, in hundredths of the whole."""
    whole = flame.page.get_by_role("tree").bounding_box()["width"]
    boxes = flame.page.get_by_role("treeitem").all()
    return {one.inner_text(): round(100 * one.bounding_box()["width"] / whole) for one in boxes}


def test_boxes_are_as_wide_as_their_time(flame):
    assert shares(flame) == {"all": 100, "encoder": 60, "<b>attention</b>": 45, "decoder": 30}


def test_a_click_lets_a_box_fill_the_width_and_escape_goes_out(flame):
    box(flame, "encoder").click()
    assert shares(flame) == {"all": 100, "encoder": 100, "<b>attention</b>": 75}
    flame.page.keyboard.press("Escape")
    assert shares(flame)["encoder"] == 60


def test_the_pointer_tells_time_share_and_path(flame):
    box(flame, "<b>attention</b>").hover()
    told = flame.page.locator(".tfp-flame-told").inner_text()
    assert "<b>attention</b> 45.0 ms (45.0% of all), 45.0 ms of its own" in told
    assert "in encoder" in told


def test_a_search_marks_boxes_and_tells_their_time(flame):
    flame.page.get_by_role("searchbox").fill("CODER")
    assert flame.page.locator(".tfp-flame-match").all_inner_texts() == ["encoder", "decoder"]
    assert "2 boxes, 90.0 ms, 90.0% of all" in flame.page.locator(".tfp-toolbar").inner_text()


def test_the_pointer_gives_it_the_keyboard_and_no_key_gets_out(flame):
    flame.page.evaluate(
        "() => { window.keys = []; document.addEventListener('keydown', (event) => window.keys.push(event.key)); }"
    )
    box(flame, "encoder").hover()
    flame.page.mouse.move(30, 60)
    for key in ("ArrowDown", "d", "d", "0", "x", "Enter"):
        flame.page.keyboard.press(key)
    assert flame.page.evaluate("window.keys") == []
