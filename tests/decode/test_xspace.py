"""Decoding XSpace: what a `Host` says equals what protobuf's own objects say."""

import mmap
import subprocess
import sys

import numpy as np
import pytest

from builders import Ref, Uint, XSpace, field, optional, varint
from decode import oracle
from tfprof_nb import BadProfileError
from tfprof_nb.decode import Line, Plane, read_xspace


def small_space():
    space = XSpace("machine")
    cpu = space.plane("/host:CPU", cores=8, vendor="none")
    python = cpu.line("python", timestamp_ns=5)
    python.event("train", start_us=1, duration_us=100, step_num=1, _r=1)
    python.event("MatMul:MatMul", start_us=2, duration_us=20, flow=Uint(7), cost=0.5, shape="(2,3)", kind=Ref("dot"))
    cpu.describe("MatMul:MatMul", display_name="MatMul", flops=12, shape="shared")
    return space


def read(space):
    return read_xspace(space.to_bytes(), "machine")


def test_columns_by_hand():
    host = read(small_space())
    assert (len(host), host.name, host.origin_ns) == (2, "machine", 0)
    assert host.planes == (Plane("/host:CPU", {"cores": 8, "vendor": "none"}),)
    assert host.lines == (Line(0, 1, "python", 0, 2),)
    assert host.start_ps.tolist() == [1_005_000, 2_005_000]
    assert host.duration_ps.tolist() == [100_000_000, 20_000_000]
    assert host.names[host.metadata].tolist() == ["train", "MatMul:MatMul"]
    assert host.display_names[host.metadata].tolist() == ["train", "MatMul"]
    assert [column.dtype for column in (host.line, host.metadata)] == [np.int32] * 2
    assert [column.dtype for column in (host.start_ps, host.duration_ps)] == [np.int64] * 2


def test_stats_by_hand():
    host = read(small_space())
    assert host.stats_of(0) == {"step_num": 1, "_r": 1}
    assert host.stats_of(1) == {"flow": 7, "cost": 0.5, "shape": "(2,3)", "kind": "dot", "flops": 12}
    assert host.ints("flops").rows.tolist() == [1]
    assert host.ints("flops").dense(2).tolist() == [-1, 12]
    shape = host.texts("shape")
    assert shape.categories[shape.values].tolist() == ["(2,3)"]


def test_numbers_of_either_sign_and_kind():
    line = (space := XSpace()).plane("p").line("l")
    for start, value in enumerate([-1, Uint(2**64 - 1), 2.9, -2.9, "text", Ref("ref"), b"bytes", 2**63]):
        line.event("e", start_us=start, x=value)
    host = read(space)
    assert host.ints("x").rows.tolist() == [0, 1, 2, 3, 7]
    assert host.ints("x").values.tolist() == [-1, -1, 2, -2, -(2**63)]
    assert host.floats("x").values.tolist() == [-1.0, 2.0**64, 2.9, -2.9, 2.0**63]
    texts = host.texts("x")
    assert texts.rows.tolist() == [4, 5]
    assert texts.categories[texts.values].tolist() == ["text", "ref"]
    assert [host.stats_of(row)["x"] for row in (1, 6)] == [2**64 - 1, b"bytes"]


def test_stats_around_the_limits_of_the_usual_form():
    """Names' ids of one byte and of two; numbers of one to ten bytes; texts whose length takes one byte and two."""
    numbers = [sign * 2**power + more for power in range(64) for more in (-1, 0) for sign in (1, -1)]
    texts = ["x" * length for length in (0, 1, 126, 127, 128, 300)]
    values = [*(number for number in numbers if -(2**63) <= number < 2**63), *texts, *map(Uint, (0, 2**63, 2**64 - 1))]
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    for number in range(130):
        line.event("pad", **{f"pad{number}": 1})
    for number, value in enumerate(values):
        line.event("e", start_us=number, low=value, pad1=value) if number % 2 else line.event("e", high=value)
    rows = oracle.rows(space.to_bytes())
    host = read(space)
    assert oracle.host_rows(host) == rows
    for name in ("low", "pad1", "high"):
        mine = {row: stats[name] for row, (*_, stats) in enumerate(rows) if name in stats}
        ints, found = host.ints(name), host.texts(name)
        expected = {row: oracle.as_int64(value) for row, value in mine.items() if isinstance(value, int)}
        assert dict(zip(ints.rows.tolist(), ints.values.tolist(), strict=True)) == expected
        shown = dict(zip(found.rows.tolist(), found.categories[found.values].tolist(), strict=True))
        assert shown == {row: value for row, value in mine.items() if isinstance(value, str)}


def test_marks_of_the_thread_pool_are_counted_and_read_when_asked_for():
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    line.event("op", start_us=1, duration_us=2, _p=3)
    line.event("ThreadpoolListener::Record", start_us=5, _pt=15, _p=7)
    part = read(space)
    assert (len(part), part.marks, part.recorded_events, part.end_ps) == (1, 1, 2, 5_000_000)
    host = part.complete()
    assert (len(host), host.marks, host.end_ps) == (2, 0, 5_000_000)
    assert (host.ints("_p").rows.tolist(), host.stats_of(1)) == ([0], {"_pt": 15, "_p": 7})


def test_a_mark_with_a_length_is_an_event_like_others():
    space = XSpace()
    space.plane("/host:CPU").line("t").event("ThreadpoolListener::Record", start_us=5, duration_us=1)
    assert (len(read(space)), read(space).marks) == (1, 0)


def test_a_thread_that_only_asked_how_long_the_program_waits_is_left_out():
    space = XSpace()
    host = space.plane("/host:CPU")
    for number, ops in enumerate((["IteratorGetModelProto"], ["IteratorGetModelProto", "MatMul"], ["MatMul"])):
        thread = host.line(f"thread {number}", line_id=number + 1)
        for place, op in enumerate(ops):
            thread.event("EagerExecute", start_us=10 * place, duration_us=8)
            thread.event(f"EagerLocalExecute: {op}", start_us=10 * place + 1, duration_us=5)
    found = read(space)
    assert [found.lines[line].name for line in dict.fromkeys(found.line.tolist())] == ["thread 1", "thread 2"]
    assert len(found) == 6


def test_threads_seen_by_several_tracers_are_one():
    """The host's other tracers write planes of their own, with names and stats of their own, on the same threads."""
    space = XSpace()
    cpu, cupti = space.plane("/host:CPU"), space.plane("/host:CUPTI")
    cpu.line("python3", line_id=7).event("step", start_us=0, duration_us=100, step_num=1)
    thread = cupti.line("python3", line_id=7)
    thread.event("cuLaunchKernel", start_us=10, duration_us=5, device="GPU", correlation_id=3)
    cupti.line("other", line_id=8).event("cuLaunchKernel", correlation_id=4)
    host = read(space)
    assert [(line.plane, line.id, line.first, line.last) for line in host.lines] == [(0, 7, 0, 2), (0, 8, 2, 3)]
    assert host.names[host.metadata].tolist() == ["step", "cuLaunchKernel", "cuLaunchKernel"]
    assert host.ints("correlation_id").values.tolist() == [3, 4]
    assert host.stats_of(1) == {"device": "GPU", "correlation_id": 3}
    alone = XSpace()
    alone.plane("/host:CUPTI").line("t").event("e")
    assert read(alone).lines[0].plane == 0


def test_texts_are_one_category_however_written():
    line = (space := XSpace()).plane("a").line("l")
    other = space.plane("b").line("l")
    for start, (where, value) in enumerate(
        [(line, "x"), (line, Ref("x")), (line, ""), (line, "x\0"), (other, Ref("x"))]
    ):
        where.event("e", start_us=start, s=value)
    texts = read(space).texts("s")
    assert sorted(texts.categories) == ["", "x", "x\0"]
    assert texts.categories[texts.values].tolist() == ["x", "x", "", "x\0", "x"]


def test_the_events_own_stat_wins_over_its_metadatas():
    plane = (space := XSpace()).plane("p")
    line = plane.line("l")
    plane.describe("e", x=1)
    for start, stats in enumerate([{}, {"x": 2}, {"x": "text"}, {}]):
        line.event("e", start_us=start, **stats)
    host = read(space)
    assert (host.ints("x").rows.tolist(), host.ints("x").values.tolist()) == ([0, 1, 3], [1, 2, 1])
    assert host.texts("x").rows.tolist() == [2]


def test_the_rows_of_a_stat_ascend_wherever_the_events_have_it():
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    line.event("a", start_us=0, first=1, second=2)
    line.event("a", start_us=1, second=3, first=4)
    line.event("a", start_us=2, second=5)
    line.event("a", start_us=3, first=6)
    host = read_xspace(space.to_bytes(), "h")
    assert [host.ints("first").rows.tolist(), host.ints("first").values.tolist()] == [[0, 1, 3], [1, 4, 6]]
    assert [host.ints("second").rows.tolist(), host.ints("second").values.tolist()] == [[0, 1, 2], [2, 3, 5]]


def test_events_with_the_same_stats_byte_by_byte():
    space = XSpace()
    stats = [{"first": 7, "text": "one and the same"}, {"first": 8, "text": "one and the same"}, {"first": 7}, {}]
    for plane in (space.plane("/host:CPU"), other := space.plane("/device:GPU:0")):
        line = plane.line("t")
        if plane is other:
            plane.stat_id("second"), plane.stat_id("words")  # the ids are those of other names here
            stats = [{"second" if name == "first" else "words": mine[name] for name in mine} for mine in stats]
        for start in range(400):
            line.event("e", start_us=start, **stats[start * start % 7 % 4])
    host, rows = read(space), oracle.rows(space.to_bytes())
    assert oracle.host_rows(host) == rows
    for name in ("first", "second"):
        expected = {row: mine[-1][name] for row, mine in enumerate(rows) if name in mine[-1]}
        assert dict(zip(host.ints(name).rows.tolist(), host.ints(name).values.tolist(), strict=True)) == expected
        assert (np.diff(host.ints(name).rows) > 0).all()
    for name in ("text", "words"):
        expected = [row for row, mine in enumerate(rows) if name in mine[-1]]
        assert host.texts(name).rows.tolist() == expected


def test_what_follows_the_same_stats_counts_for_each_event():
    stats = field(4, field(1, 1) + field(4, 2**60)) * 2
    events = [field(1, 1) + field(2, start) + stats + field(3, 9) for start in (5, 6)]
    events += [field(1, 1) + field(2, start) + stats + field(5, 1) for start in (7, 8)]  # aggregates
    names = field(4, field(1, 1) + field(2, field(2, "e"))) + field(5, field(1, 1) + field(2, field(2, "x")))
    data = field(1, names + field(3, b"".join(field(4, event) for event in events)))
    assert oracle.host_rows(read_xspace(data, "x")) == oracle.rows(data)
    assert read_xspace(data, "x").duration_ps.tolist() == [9, 9]


def test_an_absent_stat_has_no_rows():
    host = read(small_space())
    for stat in (host.ints("none"), host.floats("none"), host.texts("none")):
        assert (stat.rows.size, stat.values.size) == (0, 0)


def test_lines_with_one_id_are_one_line_in_order():
    plane = (space := XSpace()).plane("p")
    first = plane.line("thread", line_id=7)
    second = plane.line("other", line_id=8)
    third = plane.line("ignored", line_id=9, display_id=7)
    first.event("late", start_us=5)
    second.event("elsewhere", start_us=1)
    third.event("child", start_us=2, duration_us=1)
    third.event("parent", start_us=2, duration_us=3)
    host = read(space)
    assert host.lines == (Line(0, 7, "thread", 0, 3), Line(0, 8, "other", 3, 4))
    assert host.names[host.metadata].tolist() == ["parent", "child", "late", "elsewhere"]
    assert host.line.tolist() == [0, 0, 0, 1]


def test_stats_follow_their_events_when_sorted():
    line = (space := XSpace()).plane("p").line("l")
    for start in (3, 1, 2):
        line.event("e", start_us=start, x=start)
    assert read(space).ints("x").values.tolist() == [1, 2, 3]


def test_aggregates_are_left_out():
    line = (space := XSpace()).plane("p").line("l")
    line.event("sum", num_occurrences=9, duration_us=3)
    line.event("one", start_us=4, x=1)
    host = read(space)
    assert host.names[host.metadata].tolist() == ["one"]
    assert host.ints("x").rows.tolist() == [0]


def test_times_since_1970_start_at_the_earliest_line():
    plane = (space := XSpace()).plane("p")
    plane.line("empty", timestamp_ns=10**18)
    plane.line("a", timestamp_ns=1_700_000_000_000_000_500).event("e", start_ps=1)
    plane.line("b", timestamp_ns=1_700_000_000_000_000_100).event("e")
    host = read(space)
    assert host.origin_ns == 1_700_000_000_000_000_100
    assert host.start_ps.tolist() == [400_001, 0]


def test_lines_that_count_from_the_start_stay_beside_those_that_count_from_1970():
    plane = (space := XSpace()).plane("p")
    plane.line("a", timestamp_ns=1_700_000_000_000_000_000).event("e", start_ps=1)
    plane.line("b", timestamp_ns=3).event("e")
    assert read(space).start_ps.tolist() == [1, 3000]


def test_errors_and_warnings():
    space = XSpace()
    space.errors.append("no GPU")
    space.warnings += ["one", "two"]
    host = read(space)
    assert (len(host), host.errors, host.warnings) == (0, ("no GPU",), ("one", "two"))


def test_an_event_without_metadata_has_no_name():
    line = field(2, "l") + field(4, field(1, 99))
    host = read_xspace(field(1, field(3, line)), "x")
    assert host.names[host.metadata].tolist() == [""]
    assert host.stats_of(0) == {}


@pytest.mark.parametrize("ids", [[0, 1], [-5, 2**62], [2**40, 3]])
def test_metadata_ids_of_any_size(ids):
    entries = b"".join(field(4, field(1, key) + field(2, field(2, f"n{key}"))) for key in ids)
    events = b"".join(field(4, field(1, key) + field(2, place)) for place, key in enumerate(ids))
    host = read_xspace(field(1, field(3, events) + entries), "x")
    assert host.names[host.metadata].tolist() == [f"n{key}" for key in ids]


def test_fields_of_any_order_kind_and_size():
    fixed32 = varint(15 << 3 | 5) + b"abcd"
    unknown = varint(1000 << 3) + varint(2**64 - 1) + fixed32 + field(14, 1.5) + field(13, b"x" * 200)
    metadata = field(4, field(2, unknown + field(2, "e") + unknown) + field(1, 1))
    stat = field(4, field(4, -3) + unknown + field(1, 1))
    event = field(4, stat + field(3, 7) + unknown + field(2, 5) + field(1, 1))
    line = event + field(2, "late name") + unknown + event + field(1, -2) + event
    names = field(5, field(1, 1) + field(2, field(2, "x")))
    data = unknown + field(1, metadata + names + field(3, line) + unknown)
    assert oracle.host_rows(read_xspace(data, "x")) == oracle.rows(data)
    assert read_xspace(data, "x").lines == (Line(0, -2, "late name", 0, 3),)


def test_last_of_a_oneof_and_of_a_repeated_scalar_counts():
    stat = field(4, field(1, 1) + field(4, 1) + field(5, "t") + field(3, 9))
    event = field(4, field(5, 3) + field(2, 5) + field(2, 6) + stat)
    aggregate = field(4, field(2, 5) + field(5, 3))
    data = field(1, field(3, event + aggregate) + field(5, field(1, 1) + field(2, field(2, "x"))))
    assert oracle.host_rows(read_xspace(data, "x")) == oracle.rows(data) == [(0, 0, 6, 0, "", "", {"x": 9})]


@pytest.mark.parametrize("length", [0, 1, 150, 5_000, 100_000])
@pytest.mark.parametrize("pattern", [b"\x22", b"\x22\x08\x08", b"\x22\x02\x08\x01", b"\x22\xff\x7f\x08", b"\x08\x01"])
def test_long_lines_with_text_that_looks_like_events(length, pattern):
    line = (space := XSpace()).plane("p").line("l")
    for start in range(60):
        line.event("e", start_us=start, s=pattern * (length // len(pattern)), x=start)
        line.event("plain", start_us=start)
    data = space.to_bytes()
    assert oracle.host_rows(read_xspace(data, "x")) == oracle.rows(data)


def test_a_long_line_of_tiny_fields_that_never_end_where_guessed():
    lookalike = field(13, b"\x22\x02\x08")
    data = field(1, field(3, lookalike * 20_000 + field(4, field(2, 5))))
    assert read_xspace(data, "x").start_ps.tolist() == [5]


def test_messages_of_many_fields():
    stat = field(4, field(1, 1) + field(4, 7))
    event = field(4, field(2, 5) + field(13, 300) * 300 + stat + field(5, 1) + stat * 50 + field(2, 9))
    plane = field(1, field(3, event * 3) + field(5, field(1, 1) + field(2, field(2, "x"))))
    assert oracle.host_rows(read_xspace(plane, "x")) == oracle.rows(plane)
    assert read_xspace(plane, "x").ints("x").rows.tolist() == [0, 1, 2]


def test_a_memory_map_and_a_memoryview_read_the_same(tmp_path):
    path = small_space().write(tmp_path / "m.xplane.pb")
    data = path.read_bytes()
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        rows = oracle.host_rows(read_xspace(mapped, "m"))
    assert rows == oracle.host_rows(read_xspace(memoryview(data), "m")) == oracle.rows(data)


def test_empty_data_is_refused():
    with pytest.raises(BadProfileError, match="machine: the file is empty"):
        read_xspace(b"", "machine")


def test_a_space_without_events_is_fine():
    assert len(read_xspace(optional(4, "machine"), "x")) == 0
    assert len(read_xspace(field(1, b""), "x")) == 0


def test_a_file_cut_anywhere_is_refused():
    space = small_space()
    space.hostname = ""
    data = space.to_bytes()
    for size in range(len(data)):
        with pytest.raises(BadProfileError, match="x: "):
            read_xspace(data[:size], "x")


@pytest.mark.parametrize("data", [b'{"traceEvents": []}', b"PK\x03\x04" * 9, b"\0", b"\x0a", b"<html>", b"\xff" * 40])
def test_other_files_are_refused(data):
    with pytest.raises(BadProfileError, match="x: this is not a complete XSpace profile"):
        read_xspace(data, "x")


def test_damage_within_stats_is_refused_when_they_are_asked_for():
    data = field(1, field(3, field(4, field(2, 5) + field(4, b"\x08"))))
    host = read_xspace(data, "x")
    with pytest.raises(BadProfileError, match="x: "):
        host.ints("any")
    with pytest.raises(BadProfileError, match="x: "):
        host.stats_of(0)


def test_decoding_imports_no_tensorflow():
    code = "import sys, tfprof_nb.decode; assert not {'tensorflow', 'google', 'IPython', 'xprof'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
