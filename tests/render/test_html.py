"""The static form and the report: no script, nothing from outside, everything escaped, small where it must be."""

import base64
import json
import re
import xml.etree.ElementTree as ET
import zlib
from html.parser import HTMLParser

import pandas as pd
import pytest

from render import samples
from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.render import html_report
from tfprof_nb.render.html import Detail, draw
from tfprof_nb.render.panels import (
    Column,
    Figure,
    Flame,
    KeyFigures,
    Lines,
    Link,
    Note,
    Split,
    StackedBars,
    Tab,
    Table,
    Tabs,
)
from tfprof_nb.render.static_form import STATIC_BYTES, static_view


class Reader(HTMLParser):
    """What a browser would see: tags, attributes, text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.words, self.open = set(), [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in ("img", "br", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)

    @property
    def pictures(self):
        found = [value for name, value in self.attributes if name == "src"]
        return [base64.b64decode(uri.removeprefix("data:image/svg+xml;base64,")).decode() for uri in found]


@pytest.fixture(params=["static", "report"])
def document(request):
    make = static_view if request.param == "static" else html_report
    return make(samples.HOSTILE, samples.dashboard())


def test_nothing_runs_in_a_cell():
    assert "script" not in Reader(static_view(samples.HOSTILE, samples.dashboard())).tags


def test_a_report_runs_its_own_script_and_no_other():
    html = html_report(samples.HOSTILE, samples.dashboard())
    kinds = re.findall(r"<script ([^>]*)>", html)
    assert set(kinds) == {
        'type="application/json" class="tfp-table-data"',
        'type="application/json" class="tfp-trace-data"',
        'type="application/json" class="tfp-chart-data"',
        'type="application/json" class="tfp-choice-data"',
        'type="module"',
    }
    assert kinds.count('type="module"') == 1


def test_nothing_is_fetched(document):
    reader = Reader(document)
    assert not reader.tags & {"iframe", "object", "link", "svg"}
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert all(
        value.startswith(("data:image/svg+xml;base64,", "#page-"))
        for name, value in reader.attributes
        if name in ("src", "href")
    )
    assert "http" not in re.sub(r"base64,[\w+/=]+", "", document)


def test_elements_are_closed_in_order(document):
    assert Reader(document).open == []


def test_pictures_parse_and_have_a_text(document):
    reader = Reader(document)
    assert len(reader.pictures) == 6
    assert all(ET.fromstring(picture).tag.endswith("svg") for picture in reader.pictures)
    spoken = [value for name, value in reader.attributes if name == "alt"]
    assert any(text.startswith("Steps: 40 bars") for text in spoken)


def test_the_answer_comes_first_and_every_page_is_there(document):
    text = Reader(document).text
    places = [
        text.index(words) for words in ("HIGHLY input-bound", "Average step", "Overview", "Memory", "Kernels", "Trace")
    ]
    assert places == sorted(places)
    assert "This profile has no device events." in text


def test_hostile_names_are_text():
    reader = Reader(static_view("", [samples.ops(3)]))
    assert samples.HOSTILE.replace("\x00", "").replace("\x1b", "") in reader.text
    assert reader.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td", "code", "span"}


def test_a_dashboard_fits_an_output_cell():
    html = static_view("title", samples.dashboard(400))
    assert len(html.encode()) < STATIC_BYTES
    assert "Left out" not in html


def test_what_does_not_fit_is_left_out_with_a_notice():
    pages = [Tab(f"page {k}", lambda: [samples.steps(400), samples.ops(500)]) for k in range(60)]
    html = static_view("title", [Note("the answer", "answer"), Tabs(pages)])
    assert len(html.encode()) < STATIC_BYTES
    text = Reader(html).text
    assert "the answer" in text
    assert "Left out here to keep the notebook small: " in text
    assert "page 59" in text.split("Left out")[1]


def test_a_cut_table_says_so():
    text = Reader(draw(samples.ops(431))).text
    assert "20 of 431 rows; all rows in .table" in text


def test_a_whole_table_does_not_say_that_it_is_cut():
    assert "rows" not in Reader(draw(samples.ops(5))).text


def test_the_report_shows_more_rows_than_the_notebook():
    assert "200 of 2,000 rows" in Reader(html_report("title", samples.dashboard())).text


def test_numbers_are_aligned_and_have_their_unit():
    assert '<td align="right">1.00 s</td>' in draw(samples.ops(3))


def test_an_index_that_a_column_names_is_shown():
    frame = samples.ops(3).frame.set_index("op_type")
    assert "Conv2D" in draw(Table("", frame, samples.COLUMNS))


def test_missing_values_are_a_dash():
    frame = samples.ops(3).frame.astype({"self_us": "object"})
    frame.loc[0, "self_us"] = None
    assert '<td align="right">–</td>' in draw(Table("", frame, samples.COLUMNS))


@pytest.mark.parametrize(
    "panel",
    [
        StackedBars("Steps", samples.np.array([]), [], "step", "ms"),
        Lines("Memory", samples.np.array([]), [], "ms", "MiB"),
        Split("Average step", []),
        Table("Ops", samples.ops(3).frame.head(0), samples.COLUMNS),
    ],
)
def test_nothing_to_show_is_never_blank(panel):
    assert re.search(r"Nothing to draw|No rows", Reader(draw(panel)).text)


def test_a_page_that_fails_says_so_and_costs_no_other():
    def broken():
        raise ZeroDivisionError("division by zero")

    text = Reader(static_view("", [Tabs([Tab("Bad", broken), Tab("Good", lambda: [Note("all well")])])])).text
    assert "Bad can't be shown: ZeroDivisionError: division by zero" in text
    assert "all well" in text


def test_pages_are_made_once():
    made = []
    static_view("", [Tabs([Tab("Large", lambda: made.append(1) or [samples.ops(3000), *[samples.steps(400)] * 9])])])
    assert made == [1]


def test_key_figures_say_what_they_mean():
    reader = Reader(draw(KeyFigures([Figure("step time", "3.00 ms", 'mean of "training" steps')])))
    assert ("title", 'mean of "training" steps') in reader.attributes


def test_the_report_follows_the_system_theme():
    html = html_report("title", [])
    assert html.startswith("<!doctype html>")
    assert "prefers-color-scheme: dark" in html


def test_backticks_in_notes_are_code():
    html = draw(Note("write `ds.map(f, n<3)` here", "advice"))
    assert "ds.map(f, n&lt;3)</code> here" in html
    assert "`" not in html


def test_a_cell_shows_the_first_of_many_and_says_that_there_are_more():
    text = Reader(draw(samples.chooser())).text
    assert "call: call 0" in text
    assert "details of 0" in text
    assert "details of 1" not in text
    assert "8 more to choose from in the live notebook, by call: call 1, call 2" in text


def test_pages_that_are_not_shown_are_not_made():
    def made():
        raise AssertionError

    html = static_view("", [Tabs([Tab("first", list), Tab("second", made)], "menu", "call", shown=1)])
    assert "second" in html


def test_links_are_there_only_where_something_hears_them():
    note = Note("Input.", "advice", [Link("See it", "tf.data", samples.HOSTILE, (5, 9))])
    assert "See it" not in draw(note)
    assert '<a href="#page-tf-data"' in draw(note, Detail(links="anchors"))
    button = draw(note, Detail(links="buttons"))
    assert 'data-tfp-page="tf.data"' in button
    assert 'data-tfp-range="5,9"' in button
    assert "<img" not in button


def test_links_in_a_report_lead_to_its_pages():
    html = html_report("title", samples.dashboard())
    sections = re.findall(r'<section id="([^"]+)"', html)
    links = set(re.findall(r'href="#([^"]+)"', html))
    assert {"page-tf-data", "page-trace"} <= links <= set(sections)


def test_pages_of_a_group_share_a_fold_where_no_script_runs():
    pages = [
        Tab("Steps", list),
        Tab("Layers", lambda: [Note("one")], "Model"),
        Tab("Ops", lambda: [Note("two")], "Model"),
    ]
    html = draw(Tabs(pages))
    assert re.findall(r"<summary[^>]*>([^<]+)<", html) == ["Steps", "Model"]
    assert [word for word in Reader(html).text.split() if word in ("Layers", "one", "Ops", "two")] == [
        "Layers",
        "one",
        "Ops",
        "two",
    ]


def test_a_report_tells_its_script_which_pages_share_a_tab():
    html = html_report("title", [Tabs([Tab("Steps", list), Tab("Layers", list, "Model"), Tab("Ops", list, "Model")])])
    data = json.loads(base64.b64decode(re.search(r'class="tfp-choice-data">([^<]+)<', html)[1]))
    assert (data["names"], data["groups"]) == (["Steps", "Layers", "Ops"], ["Steps", "Model", "Model"])


def test_a_report_holds_the_boxes_of_its_flame_graph():
    frame = pd.DataFrame({"name": ["all", samples.HOSTILE], "depth": [0, 1], "start": [0.0, 0.0], "total": [2.0, 1.0]})
    frame = frame.assign(own=[1.0, 1.0], color=["#999999", "#0072B2"])
    html = html_report("title", [Flame("Flame", frame, [("host", "#0072B2")])])
    packed = re.search(r'class="tfp-flame-data">([^<]+)<', html)[1]
    data = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert (data["boxes"]["total"], data["legend"]) == ([2.0, 1.0], [["host", "#0072B2"]])


def hosts(count, text="well"):
    pages = [Tab("Overview", lambda: [Note(text)]), Tab("Ops", lambda: [samples.ops(3)])]
    return Tabs([Tab(f"host {k}", lambda: [Tabs(pages)]) for k in range(count)], "menu", "hosts", shown=1)


def test_every_page_of_a_menu_is_in_a_report_with_an_id_of_its_own():
    html = html_report("title", [hosts(3)])
    ids = re.findall(r'<section id="([^"]+)"', html)
    assert len(set(ids)) == len(ids) == 6
    assert "more to choose from" not in html
    inside = ["Overview", "Ops"]
    assert re.findall(r"<summary[^>]*>([^<]+)<", html) == ["host 0", *inside, "host 1", *inside, "host 2", *inside]


def test_a_menu_too_large_for_a_report_is_cut_with_a_notice():
    html = html_report("title", [hosts(2500)])
    assert html.count("<summary") == 200 * 3  # each with two pages
    assert "2,300 more to choose from in the live notebook, by hosts: host 200, " in Reader(html).text
    assert len(html_report("title", [Tabs([Tab("a", list)] * 500, "slider", "step")])) < 300_000


def test_a_report_holds_the_values_that_a_pointer_on_a_chart_reads():
    html = html_report("title", [samples.steps(40)])
    packed = re.search(r'class="tfp-chart-data">([^<]+)<', html)[1]
    data = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert data["x"][:3] == [0, 1, 2]
    assert {entry["label"]: entry["values"][:2] for entry in data["entries"]} == {
        "host compute": [1, 1],
        "input": [2, 2],
        "compilation": [9, 0],
        "hatched: warm-up, not in averages": [],
    }
    # The axis has a place for each step, from 52 to 844 of 860 pixels.
    first, last = (860 * share for share in data["span"])
    assert [first, last] == pytest.approx([52 + 792 * 0.5 / 40, 52 + 792 * 39.5 / 40])


def test_every_part_of_a_split_is_named_in_text():
    text = draw(samples.split())
    assert "input 75.0 ms (75.0%)" in text
    assert "other 1.00 ms (1.0%)" in text


def test_names_of_ops_can_be_told_apart_and_are_there_whole():
    names = [f"StatefulPartitionedCall/gradient_tape/model/dense_{k}/Tensordot/MatMul" for k in (1, 2)]
    frame = samples.ops(2).frame.assign(op_name=names)
    table = Table("Ops", frame, [Column("op_name", "op", "code", path=True, trim=without_calls)])
    html = draw(table, Detail(text=40))
    assert all(f">…/model/dense_{k}/Tensordot/MatMul<" in html for k in (1, 2))
    assert all(f'title="{name}"' in html for name in names)
