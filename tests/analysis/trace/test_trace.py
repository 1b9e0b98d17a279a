"""The trace: what is sent to the browser is what was captured, and what is merged is accounted for."""

import json
import zlib
from collections import Counter as Multiset
from typing import NamedTuple

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.analysis.trace.counters import Counter
from tfprof_nb.analysis.trace.trace import trace


def laid_out(*spaces, counters=()):
    return of_hosts([forest(space, f"host{i}") for i, space in enumerate(spaces)], counters)


def of_hosts(forests, counters=()):
    groupings = [group_events(forest) for forest in forests]
    return trace(forests, groupings, steps(forests, groupings), lambda: counters)


def small():
    space = XSpace()
    cpu, gpu = space.plane("/host:CPU"), space.plane("/device:GPU:0")
    cpu.line("tf_Compute/77").event("MatMul:MatMul", start_us=5, duration_us=90)
    python = cpu.line("python")
    python.event("train", start_us=0, duration_us=100, step_num=4, _r=1)
    python.event("call", start_us=10, duration_us=40)
    python.event("MemoryAllocation", start_us=20)
    gpu.line("Stream #1").event("kernel", start_us=200, duration_us=50, correlation_id=9)
    cpu.line("tf_Compute/78").event("Add:AddV2", start_us=50, duration_us=10)
    return space


class Row(NamedTuple):
    """A slice as it is written: of a whole trace, an event."""

    track: int
    depth: int
    start: int
    end: int
    name: str
    event: int
    events: int
    busy_share: float


def unpacked(header, payload):
    """Read a payload as docs/trace-format.md says."""
    header = json.loads(json.dumps(header))
    raw = np.frombuffer(zlib.decompress(payload), dtype=np.uint8)
    count, columns, at = header["events"], [], 0
    for width in (6, 6, 3) + (4, 4, 1) * header["merged"]:
        planes = raw[at : at + count * width].reshape(width, count).astype(np.int64)
        columns.append(sum(planes[i] << (8 * i) for i in range(width)).tolist())
        at += count * width
    assert at == len(raw)
    lanes = [
        (t, d) for t, track in enumerate(header["tracks"]) for d, n in enumerate(track["depths"]) for _ in range(n)
    ]
    rows, previous, end, event = [], None, 0, 0
    for k, (lane, gap, duration, name, *merged) in enumerate(zip(lanes, *columns, strict=True)):
        start = (0 if lane != previous else end) + gap * header["unit_ps"]
        end, previous = start + duration * header["unit_ps"], lane
        gone_on, events, busy = merged or (1 if k else 0, 1, 255)
        event += gone_on
        rows.append(Row(*lane, start, end, header["names"][name], event, events, busy / 255))
    return rows


def test_header_and_payload_hold_every_event():
    result = laid_out(small())
    header = result.header()
    rows = [row[:5] for row in unpacked(header, result.payload())]
    us = 10**6
    assert [track["label"] for track in header["tracks"]] == ["Stream #1", "python", "tf_Compute 1", "tf_Compute 2"]
    assert [group["kind"] for group in header["groups"]] == ["device", "host"]
    assert rows == [
        (0, 0, 200 * us, 250 * us, "kernel"),
        (1, 0, 0, 100 * us, "train"),
        (1, 1, 10 * us, 50 * us, "call"),
        (2, 0, 5 * us, 95 * us, "MatMul:MatMul"),
        (3, 0, 50 * us, 60 * us, "Add:AddV2"),
    ]
    assert header["steps"] == []  # the mark's only step ran nothing on the device


def test_steps_stand_in_the_header():
    space = XSpace()
    space.plane("/host:CPU").line("python").event("train", start_us=7, duration_us=100, step_num=4, _r=1)
    header = laid_out(space).header()
    assert header["steps"] == [{"step": 4, "start_ps": 7 * 10**6, "duration_ps": 10**8}]


def test_details_are_of_the_event_at_that_place_in_the_payload():
    result = laid_out(small())
    for position, row in enumerate(unpacked(result.header(), result.payload())):
        details = result.details(position)
        assert (details["name"], details["start_ps"]) == (row.name, row.start)
    assert result.details(0)["correlation_id"] == 9


def test_hidden_events_are_said():
    assert "1 bookkeeping event, such as an allocation, is not drawn." in laid_out(small()).notes[0]


def test_overview_is_the_share_of_time_in_which_a_track_is_busy():
    busy, labels = laid_out(small()).overview(bins=5)
    assert labels[0] == "Stream #1"
    np.testing.assert_allclose(busy[0], [0, 0, 0, 0, 1])
    np.testing.assert_allclose(busy[2], [0.9, 0.9, 0, 0, 0])


def test_tracks_of_one_name_are_told_apart_by_device_and_host():
    def space(*devices):
        made = XSpace()
        for device in devices:
            made.plane(f"/device:TPU:{device}").line("XLA Ops").event("fusion", duration_us=1)
        return made

    assert laid_out(space(0, 1)).overview(1)[1] == ["TPU:0 XLA Ops", "TPU:1 XLA Ops"]
    assert laid_out(space(0)).overview(1)[1] == ["XLA Ops"]
    assert laid_out(space(0), space(0)).overview(1)[1] == ["host0 TPU:0 XLA Ops", "host1 TPU:0 XLA Ops"]


@pytest.mark.parametrize("slices", [1, 2, 7, 50, 10_000])
def test_query_gives_at_most_so_many_slices_and_counts_what_it_merges(slices):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for i in range(1000):
        line.event(f"op{i % 5}:Op", start_us=10 * i, duration_us=4 if i % 100 else 9)
    result = laid_out(space)
    found = result.query(0, result.span_ps, slices)
    assert 0 < len(found) <= slices
    if slices >= 2:
        assert found["events"].sum() == 1000
    window = result.query(2_000 * 10**6, 2_050 * 10**6, slices)
    assert window["start_ps"].max() <= 2_050 * 10**6
    assert window["end_ps"].min() >= 2_000 * 10**6


def test_query_needs_room_for_a_slice():
    with pytest.raises(ValueError, match="max_slices"):
        laid_out(small()).query(0, 1, 0)


def test_two_hosts_are_told_apart():
    header = laid_out(small(), small()).header()
    assert {group["label"] for group in header["groups"]} == {
        f"host{i} {plane}" for i in (0, 1) for plane in ("/host:CPU", "/device:GPU:0")
    }


def test_real_captures(shared_data):
    for path in sorted(shared_data.rglob("*.xplane.pb")):
        result = of_hosts([forest(path.read_bytes())])
        header = result.header()
        rows = unpacked(header, result.payload())
        assert len(rows) == header["events"] == result.summary["events"]
        assert max(row.end for row in rows) == header["span_ps"]


def test_flows_tell_where_the_other_end_is_drawn():
    space = XSpace()
    space.plane("/host:CPU").line("python").event("launch", duration_us=5, correlation_id=9)
    space.plane("/device:GPU:0").line("Stream #1").event("sgemm", start_us=20, duration_us=50, correlation_id=9)
    result = laid_out(space)
    rows = [row.name for row in unpacked(result.header(), result.payload())]
    kernel, launch = rows.index("sgemm"), rows.index("launch")
    [caused] = result.flows(launch)
    assert (caused["direction"], caused["kind"], caused["event"]) == ("to", "launch", kernel)
    assert (caused["start_ps"], caused["duration_ps"]) == (20 * 10**6, 50 * 10**6)
    [cause] = result.flows(kernel)
    assert (cause["direction"], cause["event"], result.header()["names"][cause["name"]]) == ("from", launch, "launch")


def test_the_cell_s_statements_have_a_track_of_their_own_above_their_thread():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("cell line 3", start_us=0, duration_us=100)
    python.event("fit", start_us=1, duration_us=90)
    result = laid_out(space)
    assert [(t["label"], t["kind"], t["depths"]) for t in result.header()["tracks"]] == [
        ("Cell lines", "statements", [1]),
        ("python", "thread", [1]),
    ]
    assert result.details(0)["name"] == "cell line 3"


def test_lines_derived_for_a_stream_stand_above_it():
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #7(Compute)")
    for start in (0, 10):
        stream.event("sgemm", start_us=start, duration_us=5, tf_op="model/dense/MatMul:MatMul", kernel_details="regs:1")
    result = laid_out(space)
    tracks = result.header()["tracks"]
    assert [track["label"] for track in tracks] == ["Name scopes: Stream #7", "Ops: Stream #7", "Stream #7(Compute)"]
    rows = [row[:5] for row in unpacked(result.header(), result.payload())]
    assert rows[2] == (1, 0, 0, 15 * 10**6, "model/dense/MatMul:MatMul")
    assert result.details(2)["line"] == "made of Stream #7(Compute)"
    assert result.notes == []


def test_threads_that_hardly_did_anything_are_marked_idle():
    space = XSpace()
    cpu = space.plane("/host:CPU")
    cpu.line("python", line_id=1).event("fit", duration_ms=100)
    for number in range(12):
        busy = 10 if number < 3 else 0.01
        cpu.line(f"tf_Compute/{number}", line_id=number + 2).event("MatMul", start_ms=number, duration_ms=busy)
    idle = [track["idle"] for track in laid_out(space).header()["tracks"]]
    assert idle == [False] * 8 + [True] * 5


def test_counters_keep_their_extremes_in_few_points():
    times = np.arange(100_000) * 10**6
    values = np.where(times == 77_777 * 10**6, 9.5, np.where(times == 5 * 10**6, -1.0, 1.0))
    values[10] = np.nan
    told = laid_out(small(), counters=[Counter("memory", "bytes", times, values)]).header()["counters"]
    assert len(told) == 1
    assert len(told[0]["times_ps"]) == len(told[0]["values"]) < 2000
    by_time = dict(zip(told[0]["times_ps"], told[0]["values"], strict=True))
    assert (by_time[77_777 * 10**6], by_time[5 * 10**6]) == (9.5, -1.0)
    assert max(by_time) == times[-1]
    json.dumps(told, allow_nan=False)


def test_xprof_draws_the_same_events(keras_capture):
    """XProf leaves out *Produce and *Consume (`xplane_to_trace_container.cc`) too; all else is the same to the ps."""
    from xprof.convert.raw_to_tool_data import xspace_to_tool_data as convert

    told = json.loads(convert([str(keras_capture)], "trace_viewer", {})[0])
    theirs = Multiset(
        (event["name"], round(event["ts"] * 1e6), round(event["dur"] * 1e6))
        for event in told["traceEvents"]
        if event.get("ph") == "X" and not event["name"].startswith("ThreadpoolListener::")
    )
    result = of_hosts([forest(keras_capture.read_bytes())])
    header, drawn = result.header(), result.query(0, result.span_ps, 10**7)
    labels = {header["names"][int(code)]: label for code, label in header["labels"].items()}
    ours = Multiset(
        (labels.get(name, name), start, max(end - start, 1))  # XProf draws at least a picosecond
        for name, start, end in zip(drawn["name"], drawn["start_ps"].tolist(), drawn["end_ps"].tolist(), strict=True)
    )
    assert sum(theirs.values()) > 1000
    assert {name for name, _, _ in ours - theirs} <= {n for n, _, _ in ours if n.endswith(("Produce", "Consume"))}
    assert not theirs - ours


def test_ops_go_by_their_whole_name_and_are_labelled_with_the_short_one():
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python = cpu.line("python")
    python.event("model/dense/MatMul:MatMul", duration_us=1)
    python.event("%fusion.1 = f32[8] fusion(...)", start_us=5, duration_us=1)
    cpu.describe("model/dense/MatMul:MatMul", display_name="MatMul")
    cpu.describe("%fusion.1 = f32[8] fusion(...)", display_name="fusion.1")
    header = laid_out(space).header()
    assert sorted(header["names"]) == ["fusion.1", "model/dense/MatMul:MatMul"]
    assert header["labels"] == {str(header["names"].index("model/dense/MatMul:MatMul")): "MatMul"}
