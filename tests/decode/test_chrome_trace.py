"""Chrome traces, against an interpretation event by event."""

import gzip
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof_nb import BadProfileError, load
from tfprof_nb.decode.chrome_trace import read_chrome_trace
from tfprof_nb.formats.xspace import COUNTERS


def read(events, **top):
    return read_chrome_trace(json.dumps({"traceEvents": events, **top}).encode(), "host")


def rows(host):
    """Every event as (plane, line, name, start in ps, duration in ps), sorted."""
    lines = [(host.planes[line.plane].name, line.name) for line in host.lines]
    names = host.names[host.metadata].tolist()
    columns = zip(host.line.tolist(), names, host.start_ps.tolist(), host.duration_ps.tolist(), strict=True)
    return sorted((*lines[line], *event) for line, *event in columns)


NAMED = [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/host:CPU"}},
    {"ph": "M", "pid": 1, "tid": 7, "name": "thread_name", "args": {"name": "python"}},
]


def test_complete_events_of_named_and_unnamed_threads():
    host = read(
        [
            *NAMED,
            {"ph": "X", "pid": 1, "tid": 7, "ts": 1.5, "dur": 2.000001, "name": "a", "args": {"n": 3, "t": "x"}},
            {"ph": "X", "pid": 2, "tid": "io", "ts": "4", "dur": "1.25", "name": "b"},
            {"ph": "X", "pid": 2, "tid": 9, "ts": 4, "name": "c"},
            {},
        ]
    )
    assert rows(host) == [
        ("/host:CPU", "python", "a", 1_500_000, 2_000_001),
        ("process 2", "io", "b", 4_000_000, 1_250_000),
        ("process 2", "thread 9", "c", 4_000_000, 0),
    ]
    assert host.stats_of(0) == {"n": 3, "t": "x"}
    assert [line.id for line in host.lines] == [7, 10, 9]
    assert host.notes == ()


def test_rows_are_in_the_hosts_order():
    host = read(
        [
            {"ph": "X", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "name": "child"},
            {"ph": "X", "pid": 1, "tid": 2, "ts": 0, "dur": 1, "name": "other"},
            {"ph": "X", "pid": 1, "tid": 1, "ts": 5, "dur": 3, "name": "parent"},
        ]
    )
    assert [(int(line), host.names[name]) for line, name in zip(host.line, host.metadata, strict=True)] == [
        (0, "other"),
        (1, "parent"),
        (1, "child"),
    ]
    assert [(line.first, line.last) for line in host.lines] == [(0, 1), (1, 3)]


def test_begin_and_end_pair_by_nesting_and_share_their_arguments():
    host = read(
        [
            {"ph": "E", "pid": 1, "tid": 1, "ts": 0},
            {"ph": "B", "pid": 1, "tid": 1, "ts": 1, "name": "outer", "args": {"a": 1}},
            {"ph": "B", "pid": 1, "tid": 1, "ts": 2, "name": "inner"},
            {"ph": "B", "pid": 1, "tid": 2, "ts": 2, "name": "open"},
            {"ph": "E", "pid": 1, "tid": 1, "ts": 3},
            {"ph": "E", "pid": 1, "tid": 1, "ts": 7, "args": {"b": 2}},
        ]
    )
    assert [row[2:] for row in rows(host)] == [
        ("inner", 2_000_000, 1_000_000),
        ("outer", 1_000_000, 6_000_000),
        ("open", 2_000_000, 5_000_000),
    ]
    assert host.stats_of(0) == {"a": 1, "b": 2}
    assert host.notes == ("1 events were still open when the trace ended: they are shown as lasting until then.",)


def test_asynchronous_events_pair_by_category_and_id_on_a_line_of_their_own():
    host = read(
        [
            {"ph": "b", "cat": "net", "id": 1, "pid": 1, "tid": 1, "ts": 0, "name": "one"},
            {"ph": "b", "cat": "net", "id": 2, "pid": 1, "tid": 1, "ts": 1, "name": "two"},
            {"ph": "n", "cat": "net", "id": 1, "pid": 1, "tid": 1, "ts": 2, "name": "mark"},
            {"ph": "e", "cat": "net", "id": 1, "pid": 1, "tid": 5, "ts": 3, "name": "one"},
            {"ph": "e", "cat": "net", "id": 2, "pid": 1, "tid": 1, "ts": 9, "name": "two"},
            {"ph": "S", "cat": "old", "id": "0x1", "pid": 1, "tid": 1, "ts": 0, "name": "legacy"},
            {"ph": "F", "cat": "old", "id": "0x1", "pid": 1, "tid": 1, "ts": 4, "name": "legacy"},
        ]
    )
    assert [row[1:] for row in rows(host)] == [
        ("async net", "mark", 2_000_000, 0),
        ("async net", "one", 0, 3_000_000),
        ("async net", "two", 1_000_000, 8_000_000),
        ("async old", "legacy", 0, 4_000_000),
    ]
    assert host.ints("_a").rows.tolist() == [0, 1, 2, 3]  # so that nothing nests in them


def test_instants_and_counters_have_no_length_and_what_tells_no_time_is_counted():
    host = read(
        [
            {"ph": "i", "pid": 1, "tid": 1, "ts": 1, "name": "now", "s": "g"},
            {"ph": "C", "pid": 1, "ts": 2, "name": "memory", "args": {"bytes": 5}},
            {"ph": "C", "pid": 1, "ts": 3, "name": "memory", "id": 4, "args": {"bytes": 6}},
            {"ph": "v", "pid": 1, "ts": 3, "name": "dump"},
            {"ph": "s", "pid": 1, "tid": 1, "ts": 1, "id": 1, "name": "flow"},
        ]
    )
    assert [row[1:] for row in rows(host)] == [
        (COUNTERS, "memory", 2_000_000, 0),
        (COUNTERS, "memory 4", 3_000_000, 0),
        ("thread 1", "now", 1_000_000, 0),
    ]
    assert host.ints("bytes").values.tolist() == [5, 6]
    assert host.notes == ("Events that have no time on a thread were not read: 1 of phase v.",)


def test_times_of_a_clock_count_from_the_first_event():
    start = 1_700_000_000_000_000
    host = read(
        [
            {"ph": "X", "pid": 1, "tid": 1, "ts": start + 10, "dur": 5, "name": "b"},
            {"ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": 4, "name": "a"},
        ]
    )
    assert host.start_ps.tolist() == [0, 10_000_000]
    assert host.origin_ns == start * 1000


def test_a_clock_that_does_not_count_from_1970_may_have_a_base():
    """PyTorch's times are relative to `baseTimeNanoseconds`."""
    base, start = 1_712_000_000_000_000_000, 5_000_000.5
    host = read([{"ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": 4, "name": "a"}], baseTimeNanoseconds=base)
    assert host.start_ps.tolist() == [0]
    assert host.began_ns == base + 5_000_000_500


def test_a_trace_of_another_program_begins_with_its_first_event():
    """TensorFlow's times count from the start of the capture."""
    events = [{"ph": "X", "pid": 1, "tid": 1, "ts": 40e6, "dur": 5, "name": "a"}]
    assert read(events).start_ps.tolist() == [0]
    assert read([*NAMED, *events]).start_ps.tolist() == [40 * 10**12]


def test_processes_of_several_hosts_become_their_planes():
    planes = ["one /device:GPU:0", "two /device:GPU:0", "/host:CPU", "/host:CPU"]
    events = [{"ph": "M", "pid": n, "name": "process_name", "args": {"name": name}} for n, name in enumerate(planes)]
    events += [{"ph": "X", "pid": n, "tid": 1, "ts": n, "dur": 1, "name": "x"} for n in range(4)]
    assert [plane.name for plane in read(events).planes] == [
        "/device:GPU:0",
        "/device:GPU:0 (two)",
        "/host:CPU",
        "/host:CPU (3)",
    ]


def test_numbers_that_stand_as_texts_are_both():
    args = [{"id": "18446744073709551615"}, {"id": 7.9}, {"id": "x"}, {"id": True}, {"id": [1]}, {"id": "1e3"}]
    host = read(
        [{"ph": "X", "pid": 1, "tid": 1, "ts": n, "dur": 0, "name": "e", "args": a} for n, a in enumerate(args)]
    )
    assert host.ints("id").rows.tolist() == [0, 1, 3, 5]
    assert host.ints("id").values.tolist() == [-1, 7, 1, 1000]
    assert host.floats("id").values.tolist() == [18446744073709551615.0, 7.9, 1.0, 1000.0]
    texts = host.texts("id")
    assert texts.rows.tolist() == [0, 2, 4, 5]
    assert texts.categories[texts.values].tolist() == ["18446744073709551615", "x", "[1]", "1e3"]


@pytest.mark.parametrize("end", ["", "]", ",", ",\n", "\n]\n"])
def test_an_array_may_lack_its_end(tmp_path, end):
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(b'[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"a"}' + end.encode()))
    assert load(path).events["name"].tolist() == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "empty"),
        (b'{"traceEvents": [{"ph": "X", ', "cut short or damaged in line 1"),
        (b'[{"ph": "X"', "cut short or damaged"),
        (b'{"a": 1}', "not a Chrome trace"),
        (b"3", "not a Chrome trace"),
        (b"[3]", "not a Chrome trace: it seems to be a list of numbers"),
        (b'[3, {"ph": "X"}]', "event 0 is not an event: 3"),
        (b'[{"ph": 1}]', "event 0 is not an event"),
        (b'[{}, {"ph": "X", "name": "q"}]', r'event 1 has no usable time: its "ts" is null, in .*"q"'),
        (b'[{"ph": "X", "ts": "soon"}]', '"ts" is "soon"'),
        (b'[{"ph": "X", "ts": 1, "dur": NaN}]', '"dur" is NaN'),
        (b'[{"ph": "X", "ts": 1, "dur": [1]}]', '"dur" is'),
        (b'[{"ph": "X", "ts": 0, "dur": 1e300}]', "span .* days"),
        (b'{"\xff": 1}', "byte 2 is not text"),
        (b"[" * 100_000, "nested too deeply|cut short"),
        (b'[{"ph": "X", "ts": ' + b"9" * 5000 + b"}]", "not a Chrome trace: Exceeds the limit"),
    ],
)
def test_what_is_no_trace_is_refused_with_the_place(tmp_path, text, message):
    path = tmp_path / "bad.json"
    path.write_bytes(text)
    with pytest.raises(BadProfileError, match=f"bad.json: .*({message})"):
        load(path)


PHASES = st.sampled_from(["X", "B", "E", "b", "e", "i", "C"])
EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "ph": PHASES,
            "pid": st.integers(1, 2),
            "tid": st.sampled_from([1, 2, "io"]),
            "ts": st.integers(-8, 40).map(lambda n: n / 4),
            "name": st.sampled_from("abc"),
        },
        optional={
            "dur": st.integers(-2, 20).map(lambda n: n / 8),
            "id": st.integers(0, 1),
            "cat": st.sampled_from("pq"),
            "args": st.dictionaries(st.sampled_from("uv"), st.one_of(st.integers(), st.text(), st.none())),
        },
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=100)
@given(EVENTS)
def test_like_an_interpretation_event_by_event(events):
    host = read(events)
    assert rows(host) == sorted(_interpreted(events))
    assert (np.diff(host.line) >= 0).all()


def _interpreted(events):
    """What a trace says, by its rules, one event after the other."""
    events = sorted(events, key=lambda event: event["ts"])
    last = max((event["ts"] + event.get("dur", 0) for event in events), default=0)
    shift = min((event["ts"] for event in events), default=0)
    shift = min(0, shift)
    found, stacks = [], {}

    def add(event, line, end, name=None):
        length = round(max(end - event["ts"], 0) * 1e6)
        start = round((event["ts"] - shift) * 1e6)
        found.append((f"process {event['pid']}", line, name or event["name"], start, length))

    for event in events:
        thread = event["tid"] if isinstance(event["tid"], str) else f"thread {event['tid']}"
        asynchronous = event["ph"] in "be"
        line = f"async {event.get('cat', '')}" if asynchronous else thread
        key = (event.get("cat"), event.get("id")) if asynchronous else (event["pid"], event["tid"])
        stack = stacks.setdefault((asynchronous, key), [])
        if event["ph"] in "Xi":
            add(event, line, event["ts"] + event.get("dur", 0))
        elif event["ph"] == "C":
            name = event["name"] + (f" {event['id']}" if "id" in event else "")
            add(event, COUNTERS, event["ts"] + event.get("dur", 0), name)
        elif event["ph"] in "Bb":
            stack.append((event, line))
        elif stack:
            add(*stack.pop(), event["ts"])
    for stack in stacks.values():
        for opened in stack:
            add(*opened, last)
    return found


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r"\ud800x", "\ufffdx"),
        (r"\uD83D\uDE00", "\U0001f600"),
        (r"\uDE00\uD83D", "\ufffd\ufffd"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\\ud800", r"\ud800"),  # a backslash and four letters
        (r"\\\udc00", "\\\ufffd"),
        (r"\ud7ff\ue000", "\ud7ff\ue000"),  # no surrogates
    ],
)
def test_halves_of_characters_are_replaced(tmp_path, written, name):
    path = tmp_path / "trace.json"
    event = '{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 3, "name": "%s", "args": {"%s": "%s"}}'
    path.write_text("[" + event % (written, written, written) + "]", encoding="ascii")
    p = load(path)
    assert p.events["name"].tolist() == [name]
    assert p.data.forests[0].host.stats_of(0) == {name: name}
    p.to_html(tmp_path / "report.html")


HISTORY = {"loss": [0.5, 0.25], "val_loss": [0.75, 0.5]}


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ([1, 2.5], "a list of numbers"),
        (["a"], "a list of texts"),
        ([[1], [2]], "a list of lists"),
        ([{"a": 1, "b": 2}], "a list of records with the keys a, b"),
        ([{"cols": [], "rows": []}], "a table that TensorBoard's or XProf's profiler shows, in a list"),
        ({"traceEvents": [{"name": "a"}]}, "an object with the keys traceEvents"),
        ({"name": "site", "version": "1.0.0", "scripts": {}}, "a package.json of npm"),
        ({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, "a Jupyter notebook"),
        (HISTORY, "the history of a training with Keras"),
        ({"class_name": "Sequential", "config": {}}, "the configuration of a Keras model"),
        ({"memoryProfilePerAllocator": {}}, "the memory page that TensorFlow stored"),
        ({}, "an empty object"),
        (7, "a single number"),
    ],
)
def test_json_that_is_no_trace_is_refused_with_what_it_seems_to_be(tmp_path, content, kind):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(content))
    with pytest.raises(BadProfileError, match=f"not a Chrome trace: it seems to be {re.escape(kind)}"):
        load(path)


def test_an_array_without_events_is_a_trace_that_was_stopped_at_once(tmp_path):
    path = tmp_path / "file.json"
    path.write_text("[")
    assert load(path).events.empty
