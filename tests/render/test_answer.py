"""The answer's panels: escaped, without script, and with buttons only where a script listens."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tfprof_nb.render import answer
from tfprof_nb.render.html import Detail, draw
from tfprof_nb.render.panels import Bar, Change, Composition, Headline, Link, Offer, Part, Split
from tfprof_nb.render.static_form import static_view
from tfprof_nb.render.text import text_view

HOSTILE = "</div><script>alert(1)</script>\"'&"
CARD = Change(
    "In[3] line 30",
    "Compile the step",
    "`lstm` runs many ops.",
    "fit(x)",
    "fit(x, y)",
    [Bar("now", [Part("", 44.0, "#0072B2")], "44 ms"), Bar("then", [Part("", 11.0, "#0072B2")], "≈ 11 ms", True)],
    [Link("Show in the trace", "Trace")],
    gain="≈ 4× faster",
    apply=lambda: "fit(x, y)",
)
LIVE = Detail(links="buttons")


class Reader(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.styles, self.words = [], [], []
        self.feed(str(html))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.styles.append(dict(attrs).get("style") or "")

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize(
    "panel",
    [
        Headline(HOSTILE, HOSTILE, HOSTILE),
        Change(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE + "x", gain=HOSTILE),
        Change(HOSTILE, HOSTILE, HOSTILE, folded=True, gain=HOSTILE),
        Composition(HOSTILE, HOSTILE, [Part(HOSTILE, 1.0, "#000000")], 1.0),
    ],
)
def test_names_are_text(panel):
    reader = Reader(draw(panel, LIVE))
    assert "script" not in reader.tags
    assert HOSTILE in "".join(reader.words)


def test_only_a_live_card_has_buttons():
    assert "button" not in Reader(static_view("", [CARD])).tags
    assert [word for word in Reader(draw(CARD, LIVE)).words if word in ("Copy", "Apply in a new cell")] == [
        "Copy",
        "Apply in a new cell",
    ]
    assert "Apply in a new cell" not in Reader(draw(replace(CARD, apply=None), LIVE)).words


def test_without_code_there_is_nothing_to_copy():
    assert "Copy" not in Reader(draw(replace(CARD, old="", new=""), LIVE)).words


def test_bars_have_one_scale():
    widths = [
        style.split("width:")[1].split("%")[0] for style in Reader(draw(CARD)).styles if "height:13px;width:" in style
    ]
    assert widths == ["100.00", "25.00"]


def test_a_folded_card_says_its_gain_in_one_line():
    reader = Reader(draw(replace(CARD, folded=True), LIVE))
    assert reader.tags[:2] == ["details", "summary"]
    assert "≈ 4× faster" in reader.words


def test_a_composition_says_each_share_of_the_whole():
    parts = [Part("`lstm`", 30.0, "#0072B2"), Part("waiting", 10.0, "#D55E00")]
    words = Reader(draw(Composition("What a step is made of", "median", parts, 40.0))).words
    assert [word for word in words if "%" in word] == ["75.0%", "25.0%"]


def test_all_of_a_row_leads_to_the_page_that_tells_more():
    parts = [Part("`lstm`", 30.0, "#0072B2", page="Layers"), Part("smaller parts", 10.0, "#D55E00")]
    panel = Composition("What a step is made of", "median", parts, 40.0)
    for detail in (LIVE, Detail(links="anchors")):
        assert [row.split('"')[0] for row in str(draw(panel, detail)).split('class="tfp-row" data-tfp-page="')[1:]] == [
            "Layers"
        ]
    assert "data-tfp-page" not in draw(panel)


def test_a_card_without_a_kernel_says_how_its_change_is_tried():
    card = replace(CARD, offer=Offer("Try it · 60 s", "Runs it:", "p.try_change('x')", list))
    for form in (draw(card), draw(card, Detail(links="anchors")), static_view("", [card]), text_view("", [card])):
        assert "p.try_change(" in form
        assert "Try it" not in form
    assert "try_change" not in draw(card, LIVE)


def test_text_has_the_diff():
    text = text_view("", [Headline("Too slow.", "≈ 4× faster", "estimated"), CARD])
    assert "≈ 4× faster (estimated)" in text
    assert "    - fit(x)\n    + fit(x, y)\n" in text


def test_a_bar_is_divided_as_its_parts_and_names_those_that_are_wide():
    html = answer.split(Split("", [Part("a", 99.0, "#0072B2"), Part("narrow", 1.0, "#999999")]))
    assert re.findall(r"\"width:([\d.]+)%", html) == ["99.00", "1.00"]
    assert ">narrow 1.00 ms<" not in html
    assert ">a 99.0 ms<" in html
    assert "narrow 1.00 ms (1.0%)" in html  # in the legend
