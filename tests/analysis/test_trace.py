"""The trace: what is sent to the browser is what was captured, and what is merged is accounted for."""

import json
import zlib

import numpy as np
import pytest

from builders import XSpace
from tfprof_nb.analysis.forest import Forest
from tfprof_nb.analysis.groups import group_events
from tfprof_nb.analysis.steps import steps
from tfprof_nb.analysis.trace import trace
from tfprof_nb.decode import read_xspace


def laid_out(*spaces):
    return of_hosts([read_xspace(space.to_bytes(), f"host{i}") for i, space in enumerate(spaces)])


def of_hosts(hosts):
    forests = [Forest(host) for host in hosts]
    return trace(forests, steps(forests, [group_events(forest) for forest in forests]))


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


def unpacked(result):
    """Read the payload as docs/trace-format.md says, into (track, depth, start, end, name)."""
    header = json.loads(json.dumps(result.header()))
    raw = np.frombuffer(zlib.decompress(result.payload()), dtype=np.uint8)
    events, columns, at = header["events"], [], 0
    for width in (6, 6, 3):
        planes = raw[at : at + events * width].reshape(width, events).astype(np.int64)
        columns.append(sum(planes[i] << (8 * i) for i in range(width)))
        at += events * width
    assert at == len(raw)
    gap, duration, name = columns
    lanes = [
        (t, d) for t, track in enumerate(header["tracks"]) for d, n in enumerate(track["depths"]) for _ in range(n)
    ]
    rows, previous, end = [], None, 0
    for lane, g, d, n in zip(lanes, gap.tolist(), duration.tolist(), name.tolist(), strict=True):
        start = (0 if lane != previous else end) + g * header["unit_ps"]
        end, previous = start + d * header["unit_ps"], lane
        rows.append((*lane, start, end, header["names"][n]))
    return header, rows


def test_header_and_payload_hold_every_event():
    header, rows = unpacked(laid_out(small()))
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
    for position, row in enumerate(unpacked(result)[1]):
        details = result.details(position)
        assert (details["name"], details["start_ps"]) == (row[4], row[2])
    assert result.details(0)["correlation_id"] == 9


def test_hidden_events_are_said():
    assert "1 bookkeeping events" in laid_out(small()).notes[0]


def test_overview_is_the_share_of_time_in_which_a_track_is_busy():
    busy, labels = laid_out(small()).overview(bins=5)
    assert labels[0] == "Stream #1"
    np.testing.assert_allclose(busy[0], [0, 0, 0, 0, 1])
    np.testing.assert_allclose(busy[2], [0.9, 0.9, 0, 0, 0])


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
    assert window["start_ps"].max() < 2_050 * 10**6
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
        result = of_hosts([read_xspace(path.read_bytes(), "host")])
        header, rows = unpacked(result)
        assert len(rows) == header["events"] == result.summary["events"]
        assert max(end for *_, end, _ in rows) == header["span_ps"]
