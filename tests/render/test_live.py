"""The bars of the line under a running cell."""

import re

from tfprof_nb.render.live import live_html


def paths(bars, typical):
    """Of all bars, of their coloured parts and of the marks of cut bars: the places and heights in pixels."""
    found = re.findall(r' d="([^"]*)"', live_html("4 steps", "waiting", bars, typical))
    whole, parts = ([tuple(map(int, bar)) for bar in re.findall(r"M(\d+) 40v-(\d+)h", path)] for path in found[:2])
    return whole, parts, [int(at) for at in re.findall(r"M(\d+) 2h", found[2])]


def test_bars_are_as_high_as_their_times():
    whole, parts, cut = paths([(0.1, 0.05), (0.2, 0.0), (0.05, 0.05)], 0.1)
    assert whole == [(0, 20), (10, 40), (20, 10)]
    assert parts == [(0, 10), (10, 0), (20, 10)]
    assert cut == []


def test_one_slow_step_does_not_flatten_the_others():
    whole, parts, cut = paths([(0.1, 0.05), (9.0, 4.5)], 0.1)
    assert whole == [(0, 16), (10, 34)]
    assert parts == [(0, 8), (10, 17)]
    assert cut == [10]


def test_there_is_room_for_the_bars_before_the_first():
    assert "height:40px" in live_html("no step yet", "waiting", [], 0.0)
    assert paths([], 0.0) == ([], [], [])


def test_the_colour_is_explained_where_the_words_are():
    bars = [(0.1, 0.05)]
    shown = live_html("4 steps, 50% waiting · 12 MiB", "waiting", bars, 0.1)
    assert re.search(r"50% waiting<span [^>]*> ■</span> · 12 MiB</div>", shown)
    assert "■" not in live_html("TensorFlow saves the profile", "waiting", bars, 0.1)
