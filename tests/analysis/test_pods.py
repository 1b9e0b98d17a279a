"""Hosts side by side: XProf's own test vectors, XProf on the same files, and arithmetic by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfprof_nb as tp
from builders import XSpace, forest
from tfprof_nb.analysis.pods import align, pods
from tfprof_nb.analysis.steps.breakdown import CATEGORIES
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import COLUMNS, steps
from tfprof_nb.decode import read_xspace

PARTS = [*CATEGORIES, "other_ms"]
EPOCH_NS = 1_700_000_000_000_000_000
STEP_PS = 2_000_000_000


def compared(**spaces):
    forests = [forest(space, host) for host, space in spaces.items()]
    return pods(forests, steps(forests, [group_events(forest) for forest in forests]))


def loop(first=0, count=4, *, step_us=100, every_us=1000, began_us=None, timestamp_ns=0):
    """Steps that compute for all but 10 us; `began_us` is when the capture began, on the clock of all hosts."""
    space = XSpace()
    if began_us is not None:
        space.plane("Task Environment", profile_start_time=EPOCH_NS + 1000 * began_us)
    python = space.plane("/host:CPU").line("python", timestamp_ns=timestamp_ns)
    for i in range(count):
        python.event("train", start_us=every_us * i, duration_us=step_us, step_num=first + i, _r=1)
        python.event("MatMul:MatMul", start_us=every_us * i, duration_us=step_us - 10)
    return space


def names(result):
    """The marks that each row of steps matches, hosts in order."""
    return result.table["step_name"].unstack().sort_index(axis=1).to_numpy().tolist()


def spans(first_step, count, *, short=0, gap=0):
    """Spans as in `step_intersection_test.cc`: steps of 2 ms, the last of them shorter by ``short`` ps."""
    start = STEP_PS * first_step + (STEP_PS + gap) * np.arange(count)
    end = start + STEP_PS
    end[-1:] -= short
    return start, end


@pytest.mark.parametrize(
    ("hosts", "firsts", "count"),
    [
        ([spans(0, 10, short=1), spans(1, 10), spans(2, 10), spans(3, 10)], [3, 2, 1, 0], 7),
        ([spans(0, 10, short=1)] + 3 * [spans(0, 10)], [0, 0, 0, 0], 10),
        ([spans(0, 10, short=1), *(spans(100 * i / STEP_PS, 10) for i in (1, 2, 3))], [0, 0, 0, 0], 10),
        ([spans(0, 10)], [0], 10),
        ([spans(0, 5, short=1), spans(0, 10)], [0, 0], 5),
        ([spans(0, 5, gap=STEP_PS), spans(0, 5, gap=STEP_PS)], [0, 0], 5),
        ([spans(0, 10), spans(8, 5), spans(11, 10)], None, 0),  # nothing is common to all three
        ([spans(0, 5), spans(0, 0)], None, 0),
        ([spans(0, 0), spans(0, 0)], None, 0),
        ([], [], 0),
    ],
)
def test_intersections_of_step_intersection_test(hosts, firsts, count):
    """XProf's vector with a limit on the number of steps has no counterpart: its callers set none."""
    found, common = align({str(i): tuple(edge.astype(np.int64) for edge in span) for i, span in enumerate(hosts)})
    assert common == count
    assert firsts is None or list(found.values()) == firsts


def align_by_definition(hosts):
    """Try every shift of every host against the one with the shortest span, and sum up the overlaps."""
    lengths = [max(end) - start[0] for start, end in hosts]
    lead = hosts[lengths.index(min(lengths))]
    ranges = []
    for start, end in hosts:
        shifts = [*range(len(lead[0])), *range(-1, -len(start), -1)]
        shared = [
            sum(
                max(0, min(end[i], lead[1][i + shift]) - max(start[i], lead[0][i + shift]))
                for i in range(len(start))
                if 0 <= i + shift < len(lead[0])
            )
            for shift in shifts
        ]
        shift = shifts[shared.index(max(shared))] if start is not lead[0] else 0
        ranges.append((shift, shift + len(start)))
    first, last = max(low for low, _ in ranges), min(high for _, high in ranges)
    return [first - low for low, _ in ranges], max(0, last - first)


some_steps = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)), min_size=1, max_size=5).map(sorted)


@settings(max_examples=400)
@given(st.lists(some_steps, min_size=1, max_size=3))
def test_any_steps_are_matched_as_the_definition_says(hosts):
    """Steps may overlap others of their host: two threads can have steps."""
    edges = [([start for start, _ in steps], [start + length for start, length in steps]) for steps in hosts]
    found, count = align({str(i): tuple(np.array(edge) for edge in pair) for i, pair in enumerate(edges)})
    assert (list(found.values()), count) == align_by_definition(edges)


def test_steps_that_overlap_nowhere_are_matched_by_their_order():
    assert align({"a": spans(0, 3), "b": spans(100, 3)}) == ({"a": 0, "b": 0}, 3)


def test_two_equal_hosts():
    """`xplane_to_op_stats_test.cc`: two identical hosts have one step, on both."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python, executor = cpu.line("python"), cpu.line("tf_Compute")
    python.event("TraceContext", duration_ps=100, step_num=123, graph_type="train")
    python.event("FunctionRun", start_ps=10, duration_ps=80, _pt=2, _p=0)
    executor.event("ExecutorState::Process", start_ps=20, duration_ps=80, _ct=2, _c=0)
    executor.event("aaa:bbb", start_ps=30, duration_ps=70)
    result = compared(one=space, two=space)
    assert result.table.index.tolist() == [(0, "one"), (0, "two")]
    assert result.table["host_compute_ms"].tolist() == pytest.approx([80e-9] * 2)
    assert result.summary["host_count"] == 2


def test_every_kind_of_time():
    """`op_stats_to_pod_stats_test.cc`, 1000 ps of which 350 in collectives and 50 in each other type.

    The vector's waits for devices and hosts, which no converter emits, are given as the copies that they are counted
    with. Copies between host buffers, which XProf shows nowhere (its sum is 950), we count as other time. The vector's
    warning of incomplete steps has no counterpart: no converter marks any, and our marks leave unfinished steps out.
    """
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    stream = space.plane("/device:GPU:0").line("Stream #1")
    python.event("train", duration_ps=1000, step_num=0, _r=1)
    python.event("MatMul:MatMul", start_ps=0, duration_ps=50)
    python.event("step_fn", start_ps=50, duration_ps=50, tf_function_call="traced-nonXla")
    python.event("MEMCPYHToH", start_ps=100, duration_ps=50)
    python.event("IteratorGetNext", start_ps=150, duration_ps=50)
    python.event("cuLaunchKernel", start_ps=200, duration_ps=50, correlation_id=0)
    at = 250
    work = [("gemm", 50), ("half", 50), ("MemcpyD2D", 100), ("nccl", 350), ("MemcpyH2D", 100), ("MemcpyD2H", 50)]
    for i, (kernel, duration) in enumerate(work):
        python.event("cuLaunchKernel", start_ps=200, correlation_id=i)
        stream.event(kernel, start_ps=at, duration_ps=duration, correlation_id=i)
        at += duration
    row = compared(host=space).table.loc[(0, "host")]
    assert {name: round(row[name] * 1e9) for name in PARTS} == {
        "device_compute_ms": 100,
        "device_to_device_ms": 100,
        "device_collectives_ms": 350,
        "host_compute_ms": 50,
        "kernel_launch_ms": 50,
        "input_ms": 150,
        "output_ms": 50,
        "compile_ms": 50,
        "other_ms": 50 + 50,
    }
    assert row["bottleneck"] == "device_collectives_ms"


def test_agrees_with_xprofs_pod_viewer(tmp_path):
    """XProf knows no absolute times, so neither do these files; the second host missed two steps, and is slower."""
    run = tmp_path / "plugins" / "profile" / "run"
    for host, (missed, factor) in {"alpha": (0, 1), "beta": (2, 3)}.items():
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        for i in range(missed, 10):
            length = 100 + factor * 10 * i
            python.event("train", start_us=1000 * i + factor, duration_us=length, step_num=i, _r=1)
            python.event("IteratorGetNext", start_us=1000 * i + 5, duration_us=10 + i)
            python.event("MatMul:MatMul", start_us=1000 * i + 30, duration_us=length - 40)
        space.write(run / f"{host}.xplane.pb")
    p = tp.load(run)
    ours = p.pods.table
    theirs = [step["podStatsPerCore"] for step in p.xprof("pod_viewer")["podStatsSequence"]["podStatsMap"]]
    assert len(theirs) == p.pods.summary["steps"] == 8
    for number, cores in enumerate(theirs):
        for host, core in (("alpha", cores["1"]), ("beta", cores["1001"])):
            row = ours.loc[(number, host)]
            assert row["step_ms"] * 1e3 == pytest.approx(core["totalDurationUs"])
            for place, name in ((4, "host_compute_ms"), (6, "input_ms"), (9, "other_ms")):
                assert row[name] * 1e3 == pytest.approx(core["stepBreakdownUs"][str(place)])


def test_steps_are_matched_by_the_time_of_day():
    result = compared(a=loop(0, began_us=0), b=loop(1, began_us=1020))
    assert names(result) == [["train 1", "train 1"], ["train 2", "train 2"], ["train 3", "train 3"]]
    assert result.notes == ["The 3 steps that all hosts captured are compared; one host captured 4."]


def test_times_since_1970_do_as_well():
    result = compared(a=loop(0, timestamp_ns=EPOCH_NS), b=loop(2, timestamp_ns=EPOCH_NS + 2_000_000))
    assert names(result) == [["train 2", "train 2"], ["train 3", "train 3"]]


def test_without_the_time_of_day_a_note_says_so():
    result = compared(a=loop(0, began_us=0), b=loop(1))
    assert names(result)[0] == ["train 0", "train 1"]
    assert result.notes[0].startswith("The files do not record when each capture began")


def test_clocks_that_differ_are_noticed():
    result = compared(a=loop(began_us=0), b=loop(began_us=10**9))
    assert names(result)[0] == ["train 0", "train 0"]
    assert result.notes[0].startswith("Matched steps do not overlap in time")


def test_the_slowest_host_and_what_it_spends_more_on():
    slow = loop(step_us=300)
    for i in range(4):
        slow.planes[0].lines[0].event("IteratorGetNext", start_us=1000 * i, duration_us=120)
    result = compared(a=loop(step_us=90), slow=slow, b=loop(step_us=110))
    assert result.summary | {"slower_in_ms": round(result.summary["slower_in_ms"], 9)} == {
        "host_count": 3,
        "steps": 4,
        "slowest_host": "slow",
        "slower_percent": pytest.approx(200),
        "slower_in": "input_ms",
        "slower_in_ms": 0.12,
        "uneven_host": "slow",
        "uneven_in": "input_ms",
        "uneven_in_ms": pytest.approx(0.12),
    }
    assert result.hosts["host"].tolist() == ["a", "slow", "b"]
    assert result.hosts["step_ms"].tolist() == pytest.approx([0.09, 0.3, 0.11])
    assert result.hosts["bottleneck"].tolist() == ["host_compute_ms"] * 3
    assert result.table.columns.tolist() == [*(name for name in COLUMNS if name != "host"), "bottleneck"]


def test_steps_that_no_host_shares_leave_each_its_own_average():
    result = compared(a=loop(0, 4, began_us=0), b=loop(3, 3, began_us=3000), c=loop(5, 4, began_us=5000, step_us=200))
    assert (len(result.table), result.summary["slowest_host"]) == (0, "c")
    assert any("No step was captured on all hosts" in note for note in result.notes)


def gpu_loop():
    space = loop(step_us=500)
    stream = space.plane("/device:GPU:0").line("Stream #1")
    for i in range(4):
        space.planes[0].lines[0].event("cuLaunchKernel", start_us=1000 * i + 5, correlation_id=i)
        stream.event("gemm", start_us=1000 * i + 10, duration_us=400, correlation_id=i)
    return space


def test_a_coordinator_is_excluded_from_the_steps():
    forests = [forest(space, host) for host, space in (("chief", loop()), ("worker", gpu_loop()))]
    groupings = [group_events(forest) for forest in forests]
    found = steps(forests, groupings)
    assert set(found.table["host"]) == {"worker"}
    assert found.summary["step_ms_mean"] == pytest.approx(0.5)
    assert found.notes[0].startswith("chief is excluded from the steps")
    assert [set(numbers) for numbers in found.of_events(groupings)] == [{-1}, {0, 1, 2, 3}]
    assert pods(forests, found).notes[0] == "No steps to compare on chief."


def test_in_averages_of_steps_each_host_counts_the_same():
    forests = [forest(loop(step_us=us, count=n), str(us)) for us, n in ((100, 3), (300, 1))]
    found = steps(forests, [group_events(forest) for forest in forests])
    assert (found.summary["steps"], found.summary["step_ms_mean"]) == (4, pytest.approx((0.1 + 0.3) / 2))
    (note,) = found.notes
    assert note == (
        "Steps of 2 hosts, each on its own clock. In averages each host counts the same, however many steps were "
        "captured on it."
    )


def test_the_deviation_of_hosts_with_equally_many_steps_is_that_of_all_steps():
    forests = [forest(loop(step_us=us, count=2), str(us)) for us in (100, 300)]
    found = steps(forests, [group_events(forest) for forest in forests])
    assert found.summary["step_ms_std"] == pytest.approx(np.std([0.1, 0.1, 0.3, 0.3], ddof=1))


def test_a_single_host_has_nothing_to_compare():
    result = compared(a=loop())
    assert (result.summary["slowest_host"], len(result.table)) == ("a", 4)
    assert result.notes == ["This profile has only one host: there is nothing to compare."]


def test_without_steps_the_notes_say_why():
    space = XSpace()
    space.plane("/host:CPU")
    result = compared(a=space, b=space)
    assert (result.summary["slowest_host"], len(result.table), len(result.hosts)) == (None, 0, 0)
    assert result.notes[0].startswith("No steps: this profile has no step markers")


def test_the_start_of_a_profile_is_read_from_any_plane():
    space = XSpace()
    space.plane("/host:CPU").line("t").event("a", duration_us=1)
    assert (read_xspace(space.to_bytes(), "h").began_ns, read_xspace(space.to_bytes(), "h").ended_ns) == (0, 0)
    space.plane("/host:metadata", profile_start_time=EPOCH_NS, profile_stop_time=EPOCH_NS + 5)
    host = read_xspace(space.to_bytes(), "h")
    assert (host.began_ns, host.ended_ns) == (EPOCH_NS, EPOCH_NS + 5)
