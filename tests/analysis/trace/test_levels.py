"""What the trace viewer asks of a trace too large to be sent whole, and XProf's own cases of what is visible."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.trace.test_trace import laid_out, unpacked
from builders import XSpace

# (start, duration) per thread, in nanoseconds: nested, overlapping, side by side, of no length.
THREAD = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 120), st.sampled_from("abc")), max_size=12)
EVENTS = st.lists(THREAD, min_size=1, max_size=3).filter(any)


def traced(threads):
    space = XSpace()
    cpu = space.plane("/host:CPU")
    for number, events in enumerate(threads):
        line = cpu.line(f"thread {number}", line_id=number + 1)
        for start, duration, name in events:
            line.event(name, start_ps=start * 1000, duration_ps=duration * 1000)
    return laid_out(space)


def spans(*events):
    return traced([[(start, duration, "x") for start, duration in events]])


def shown(result, begin, stop):
    found = result.query(begin * 1000, stop * 1000, 10**6)
    return sorted(zip((found["start_ps"] // 1000).tolist(), (found["end_ps"] // 1000).tolist(), strict=True))


# `trace_viewer_visibility_test.cc`: the window is 1000 to 2000, events are (start, duration).
@pytest.mark.parametrize(
    ("event", "visible"),
    [
        ((999, 0), False),
        ((1000, 0), True),
        ((1500, 0), True),
        ((2000, 0), True),
        ((2001, 0), False),
        ((900, 99), False),
        ((900, 100), True),
    ],
)
def test_both_ends_of_the_window_count_in(event, visible):
    assert bool(shown(spans(event), 1000, 2000)) is visible


# The same test at a resolution of 100: what XProf drops ([1050, +50] and [1270, +20]) is part of a slice here.
@pytest.mark.parametrize(
    ("events", "visible"),
    [
        ([(950, 50), (1050, 50), (1055, 200), (1355, 50)], [(950, 50), (1055, 200), (1355, 50)]),
        (
            [(1000, 200), (1200, 190), (1250, 20), (1270, 20), (1290, 100)],
            [(1000, 200), (1200, 190), (1250, 20), (1290, 100)],
        ),
    ],
)
def test_whatever_xprof_shows_at_a_resolution_is_shown_and_nothing_is_dropped(events, visible):
    result = traced([[(start, duration, f"e{start}") for start, duration in events]])
    told, _ = result.tile(1_000_000, 2_000_000, bins=10)
    assert told["events"] <= len(events)
    merged = result._within(1_000_000, 2_000_000)
    assert merged.events.sum() == len(events)
    slices = tiled(result, 1000, 2000, 10)
    assert sum(events for *_, events in slices) == len(events)
    for start, duration in visible:
        assert any(begin <= start * 1000 and end >= (start + duration) * 1000 for _, begin, end, _ in slices)


def tiled(result, begin, stop, bins):
    """Read a tile as docs/trace-format.md says: (lane, start_ps, end_ps, events)."""
    told, payload = result.tile(begin * 1000, stop * 1000, bins)
    header = result.header() | {"events": told["events"], "merged": True}
    lanes = iter(told["lanes"])
    header["tracks"] = [track | {"depths": [next(lanes) for _ in track["depths"]]} for track in header["tracks"]]
    rows = unpacked(header, payload)
    lane_of = {}
    for track in range(len(header["tracks"])):
        for depth in range(len(header["tracks"][track]["depths"])):
            lane_of[track, depth] = len(lane_of)
    return [(lane_of[row.track, row.depth], row.start, row.end, row.events) for row in rows]


@settings(max_examples=20, deadline=None)
@given(EVENTS, st.integers(0, 500), st.integers(1, 500), st.integers(1, 200))
def test_a_tile_covers_every_event_of_its_stretch_on_the_event_s_own_lane(threads, begin, length, bins):
    result = traced(threads)
    whole = unpacked(result.header(), result.payload())
    lanes = sorted({(row.track, row.depth) for row in whole})
    slices = tiled(result, begin, begin + length, bins)
    within = [r for r in whole if r.start <= (begin + length) * 1000 and r.end >= begin * 1000]
    assert sum(events for *_, events in slices) == len(within)
    for row in within:
        lane = lanes.index((row.track, row.depth))
        assert any(at == lane and start <= row.start and end >= row.end for at, start, end, _ in slices)


@settings(max_examples=20, deadline=None)
@given(EVENTS, st.integers(0, 300), st.integers(1, 300))
def test_totals_are_those_of_the_events_cut_to_the_range(threads, begin, length):
    result, stop = traced(threads), begin + length
    table = result.totals(begin * 1000, stop * 1000)
    expected = {}
    for events in threads:
        for start, duration, name in events:
            if start <= stop and start + duration >= begin:
                cut = min(start + duration, stop) - max(start, begin)
                count, total = expected.get(name, (0, 0))
                expected[name] = (count + 1, total + cut)
    assert set(table["name"]) == set(expected)
    for row in table.itertuples():
        assert (row.count, round(row.total_ms * 1e6)) == expected[row.name]
        assert 0 <= row.self_ms <= row.total_ms + 1e-12


def test_self_time_is_without_the_events_inside():
    result = traced([[(0, 100, "fit"), (10, 40, "MatMul"), (60, 20, "MatMul"), (15, 10, "Relu")]])
    table = result.totals(0, 70_000).set_index("name")
    assert (table["total_ms"] * 1e6).round().to_dict() == {"fit": 70, "MatMul": 50, "Relu": 10}
    assert (table["self_ms"] * 1e6).round().to_dict() == {"fit": 20, "MatMul": 40, "Relu": 10}
    assert table.loc["MatMul", "avg_ms"] == pytest.approx(25e-6)


def test_totals_of_some_tracks():
    result = traced([[(0, 100, "a")], [(0, 50, "b")]])
    assert result.totals(0, 100_000, [1])["name"].tolist() == [
        result.table["label"].map({"thread 0": "a", "thread 1": "b"})[1]
    ]


@settings(max_examples=20, deadline=None)
@given(EVENTS, st.sampled_from("abc"), st.sampled_from([1, -1]))
def test_find_walks_all_events_of_a_name_in_time_and_stops(threads, name, direction):
    result = traced(threads)
    whole = unpacked(result.header(), result.payload())
    names = result.header()["names"]
    wanted = [k for k, row in enumerate(whole) if row.name == name]
    if not wanted:
        return
    order = sorted(wanted, key=lambda k: (whole[k].start, k))[::direction]
    walked, event, time = [], -1, -1 if direction > 0 else 10**9
    while found := result.find([names.index(name)], event, time, direction):
        walked.append(found["event"])
        event, time = found["event"], found["start_ps"]
    assert walked == order


def test_a_large_trace_is_sent_coarse_with_what_its_names_stand_for(monkeypatch):
    monkeypatch.setattr("tfprof_nb.analysis.trace.trace.WHOLE_EVENTS", 100)
    monkeypatch.setattr("tfprof_nb.analysis.trace.trace.COARSE_BINS", 1000)
    result = traced([[(k, 1, "a") for k in range(0, 16_000, 2)] + [(20_000, 4_000, "b")]])
    header = result.header()
    rows = unpacked(header, result.payload())
    assert (header["merged"], header["captured"], len(rows)) == (True, 8001, header["events"])
    assert len(rows) < 1000
    assert sum(row.events for row in rows) == 8001
    assert dict(zip(header["names"], header["name_events"], strict=True)) == {"a": 8000, "b": 1}
    # Half of each merged slice is idle.
    np.testing.assert_allclose([row.busy_share for row in rows[:-2]], 0.5, atol=0.08)


def test_a_level_is_smaller_the_fewer_bins_it_has():
    result = traced([[(k, 1, "a") for k in range(0, 8_000, 2)]])
    sizes = [len(result.level(bins)[1]) for bins in (20, 200, 2000)]
    assert sizes == sorted(sizes)
    assert result.level(20)[0]["events"] <= 21


def test_traces_of_minutes_keep_their_times():
    """In units of 1 ps, the 6 bytes of a gap or a duration hold 281 s."""
    us, run = 10**6, 300 * 10**12
    events = [(first * run, run - 7 * us - 1, "step") for first in range(3)]  # of three runs, one after another
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for start, duration, name in events:
        python.event(name, start_ps=start, duration_ps=duration)
    python.event("long", start_ps=3 * run + 1, duration_ps=400 * 10**12)
    result = laid_out(space)
    wanted = [(start, start + duration) for start, duration, _ in events] + [(3 * run + 1, 3 * run + 400 * 10**12 + 1)]
    whole = unpacked(result.header(), result.payload())
    level = unpacked(*result.level(1000))
    tile, payload = result.tile(0, result.span_ps, 1000)
    tile = unpacked(result.header() | {"merged": True, "events": tile["events"]}, payload)
    for rows in (whole, level, tile):
        np.testing.assert_allclose([(row.start, row.end) for row in rows], wanted, atol=result.header()["unit_ps"])
    assert result.header()["unit_ps"] <= 6  # 1300 s / 2**48 = 4.6 ps
    assert result.query(0, result.span_ps, 10)[["start_ps", "end_ps"]].to_numpy().tolist() == [list(w) for w in wanted]


def test_find_goes_on_from_an_event_whose_time_was_cut_off_to_a_unit():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    starts = [1, 300 * 10**12 + 1, 900 * 10**12 + 1]
    for start in starts:
        python.event("step", start_ps=start, duration_ps=5)
    result = laid_out(space)
    (name,) = (code for code, text in enumerate(result.header()["names"]) if text == "step")
    drawn = [row.start for row in unpacked(result.header(), result.payload())]
    assert drawn != starts
    assert result.find([name], 1, drawn[1], 1)["event"] == 2
    assert result.find([name], 1, drawn[1], -1)["event"] == 0
