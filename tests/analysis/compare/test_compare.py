"""Numbers of two profiles side by side, on captures whose every length is known."""

import gzip
import json

import numpy as np
import pytest

import tfprof_nb as tp
from builders import XSpace

FAST = [30, 31, 32, 33, 34, 35]
SLOW = [90, 91, 92, 93, 94, 95]


@pytest.fixture
def profile(tmp_path):
    """Return a function that makes a profile of steps of some lengths, in microseconds, each with an op inside."""

    def make(
        lengths, *, op="MatMul:MatMul", wait=0, gap=0, mark="train", hosts=("host",), sidecar=None, gpu=False, began=0
    ):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        for host in hosts:
            space, start = XSpace(), 0
            if began:
                space.plane("Task Environment", profile_start_time=began)
            python = space.plane("/host:CPU").line("python")
            stream = space.plane("/device:GPU:0").line("Stream #1") if gpu else None
            for number, length in enumerate(lengths):
                python.event(mark, start_us=start, duration_us=length, step_num=number, _r=1)
                if wait:
                    python.event("IteratorGetNext:x", start_us=start, duration_us=wait)
                python.event(op, start_us=start + wait, duration_us=length - wait - 5)
                if stream:
                    python.event("launch", start_us=start + wait, duration_us=1, correlation_id=number)
                    more = {"correlation_id": number, "kernel_details": "regs:8"}
                    stream.event("kernel", start_us=start + wait + 2, duration_us=10, **more)
                start += length + gap
            file = space.write(folder / f"{host}.xplane.pb")
            if sidecar:
                beside = file.with_name(f"{host}.tfprof.json.gz")
                beside.write_bytes(gzip.compress(json.dumps({"version": 1} | sidecar).encode()))
        return tp.load(folder, name="made")

    return make


def row(frame, **keys):
    (found,) = frame[np.logical_and.reduce([frame[key] == value for key, value in keys.items()])].to_dict("records")
    return found


def test_the_median_step_and_its_parts(profile):
    compared = tp.compare(profile(SLOW, wait=60), profile([*FAST, 500]))
    step = row(compared.steps, metric="step_ms")
    assert (step["before"], step["after"]) == pytest.approx((0.0925, 0.033))  # one step of 500 us moves no median
    assert step["change"] == pytest.approx(-0.0595)
    assert step["change_percent"] == pytest.approx(-100 * 0.0595 / 0.0925)
    assert compared.summary["step_speedup"] == pytest.approx(0.0925 / 0.033)
    assert compared.summary["speedup_of"] == "time per step"
    assert compared.summary["speedup"] == pytest.approx((sum(SLOW) / 6) / (sum([*FAST, 500]) / 7))
    waited = row(compared.steps, metric="input_ms")
    assert (waited["before"], waited["after"], waited["only_before"]) == (pytest.approx(0.06), 0, True)
    assert "output_ms" not in set(compared.steps["metric"])


def test_the_parts_of_a_typical_step_add_up(profile):
    """Steps of two kinds: the medians of waiting and of computing are both of the one kind that has more of it."""
    before = [profile([100] * 3, wait=80), profile([101] * 3, wait=20), profile([500, 10], wait=5)]
    typical = tp.compare(before, profile([50, 52])).typical_step
    assert typical["before"].to_dict() == pytest.approx(
        {"step_ms": 0.1005, "input_ms": 0.05, "host_compute_ms": 0.0455, "other_ms": 0.005}
    )
    assert typical.loc["step_ms", "after"] == pytest.approx(0.051)


def test_steps_of_one_run_are_no_repeats(profile):
    """They depend on one another, so no probability is told, however many there are."""
    compared = tp.compare(profile([*SLOW] * 10), profile([*FAST] * 10))
    assert np.isnan(compared.summary["p_value"])
    assert np.isnan(compared.steps["p_value"]).all()
    assert (compared.summary["measured_before"], compared.summary["measured_after"]) == (1, 1)
    assert compared.summary["verdict"] == "faster"


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [
        (1, "too small to tell"),
        (1.18, "too small to tell"),
        (0.85, "too small to tell"),
        (1.22, "slower"),
        (0.8, "faster"),
    ],
)
def test_single_captures_tell_a_fifth(profile, factor, verdict):
    """However even their steps are: machines drift from capture to capture."""
    found = tp.compare(profile([1000] * 20), profile([round(1000 * factor)] * 20)).summary
    assert (found["verdict"], found["margin_percent"]) == (verdict, pytest.approx(20))


def test_an_uneven_run_tells_less(profile):
    """Its quarters differ by half, so 40% between two such runs is nothing."""
    uneven = [1000] * 8 + [1500] * 8 + [1100] * 8 + [1400] * 8
    compared = tp.compare(profile(uneven), profile([round(1.4 * step) for step in uneven]))
    assert compared.summary["verdict"] == "too small to tell"
    assert compared.summary["margin_percent"] == 50


def test_a_few_steps_tell_only_large_differences(profile):
    assert tp.compare(profile([1000] * 3), profile([1200] * 3)).summary["verdict"] == "too small to tell"
    assert tp.compare(profile([1000] * 3), profile([1500] * 3)).summary["verdict"] == "slower"


def test_five_runs_of_each_are_tested(profile):
    """All of five below all of five: 2 of comb(10, 5) = 252 orders are as extreme."""
    before, after = [profile([1000 + k] * 9) for k in range(5)], [profile([880 + k] * 9) for k in range(5)]
    found = tp.compare(before, after).summary
    assert (found["verdict"], found["p_value"]) == ("faster", pytest.approx(2 / 252))
    assert found["speedup"] == pytest.approx(1002 / 882)
    # The third smallest and the third largest of the 25 ratios: U may be 2.
    ratios = sorted((1000 + one) / (880 + other) for one in range(5) for other in range(5))
    assert (found["speedup_low"], found["speedup_high"]) == (pytest.approx(ratios[2]), pytest.approx(ratios[-3]))
    assert (found["margin_percent"], found["in_turn"]) == (10, False)


def blocks(profile, before, after):
    """Runs of one side after those of the other."""
    return tuple(
        [profile([length] * 9, began=10**15 + 100 * side + number) for number, length in enumerate(lengths)]
        for side, lengths in enumerate((before, after))
    )


def turns(profile, before, after):
    """Runs of both sides, every other round in the opposite order."""
    sides = [], []
    for number, lengths in enumerate(zip(before, after, strict=True)):
        for place, side in enumerate((0, 1) if number % 2 == 0 else (1, 0)):
            sides[side].append(profile([lengths[side]] * 9, began=10**15 + 2 * number + place))
    return sides


def test_runs_one_after_another_tell_no_less_than_the_machine_drifts(profile):
    """Five and five that differ clearly, by 5%: a machine does so by itself."""
    before = [1000, 1001, 1002, 1003, 1004]
    compared = tp.compare(*blocks(profile, before, [length - 50 for length in before]))
    found = compared.summary
    assert (found["verdict"], found["in_turn"], found["margin_percent"]) == ("too small to tell", False, 10)
    assert found["p_value"] == pytest.approx(2 / 252)
    assert any(note.startswith("The runs did not take turns. A machine that became slower") for note in compared.notes)
    unknown = tp.compare([profile([1000] * 9)] * 2, profile([1000] * 9))
    assert any(note.startswith("It is not known whether the runs took turns.") for note in unknown.notes)
    assert tp.compare(*blocks(profile, before, [length - 150 for length in before])).summary["verdict"] == "faster"


def test_runs_that_took_turns_are_compared_in_pairs(profile):
    """The machine becomes twice as slow meanwhile, and what differs is 5%: the order of the values tells nothing."""
    before = [1000, 1200, 1400, 1700, 2000]
    after = [round(length / ratio) for length, ratio in zip(before, [1.05, 1.06, 1.04, 1.05, 1.05], strict=True)]
    before_runs, after_runs = turns(profile, before, after)
    compared = tp.compare(before_runs[::-1], after_runs)  # given in any order
    found = compared.summary
    assert (found["verdict"], found["in_turn"]) == ("faster", True)
    assert found["speedup"] == pytest.approx(1.05, rel=1e-3)
    # Logarithms of the ratios, their mean, and 2.776 standard errors: Student's t with 4 degrees of freedom.
    logs = np.log(np.array(before) / after)
    reach = 2.7764 * logs.std(ddof=1) / 5**0.5
    assert found["speedup_low"] == pytest.approx(np.exp(logs.mean() - reach), rel=1e-5)
    assert found["speedup_high"] == pytest.approx(np.exp(logs.mean() + reach), rel=1e-5)
    assert found["p_value"] < 0.001
    assert np.isnan(found["margin_percent"])
    assert not any("take turns" in note or "took turns" in note for note in compared.notes)
    assert tp.compare(*turns(profile, before, before)).summary["verdict"] == "no difference"


def test_five_runs_of_each_that_overlap(profile):
    times = [1000, 1010, 1020, 1030, 1040], [1005, 1015, 1025, 1035, 1038]
    before, after = ([profile([time] * 9) for time in side] for side in times)
    found = tp.compare(before, after).summary
    assert found["verdict"] == "no difference"
    assert found["speedup_low"] < 1 < found["speedup_high"]


def test_a_row_per_run(profile):
    runs = tp.compare([profile([100] * 9), profile([110] * 9)], profile([50] * 9)).runs
    assert runs["side"].tolist() == ["before", "before", "after"]
    assert runs["time_ms"].tolist() == pytest.approx([0.1, 0.11, 0.05])


def test_gaps_between_steps_count(profile):
    """Steps of the same length, but what the loop does between them is gone."""
    found = tp.compare(profile([100] * 20, gap=100), profile([100] * 20))
    assert found.summary["speedup"] == pytest.approx((20 * 100 + 19 * 100) / (20 * 100))
    assert found.summary["step_speedup"] == 1
    parts = found.table.set_index("metric")
    assert parts.loc["outside_steps_ms", "before"] == pytest.approx(0.1 * 19 / 20)
    assert parts.drop("time_ms").sum()["before"] == pytest.approx(parts.loc["time_ms", "before"])


def test_the_tracing_of_a_function_is_left_out_once(tmp_path):
    """It lies in a step: what came before the steps takes as long as it did."""

    def make(tracing_ms):
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        python.event("MatMul:MatMul", start_ms=0, duration_ms=1000)
        for number in range(20):
            python.event("train", start_ms=1000 + 100 * number, duration_ms=100, step_num=number, _r=1)
        if tracing_ms:
            call = {"tf_function_call": "traced-nonXla", "tracing_count": 1}
            python.event("smaller", start_ms=1900, duration_ms=tracing_ms, **call)
        return tp.load(space.write(tmp_path / f"{tracing_ms}" / "host.xplane.pb"))

    found = tp.compare(make(60), make(0)).summary
    assert (found["before_ms"], found["after_ms"]) == pytest.approx(((1000 + 1940) / 20, (1000 + 2000) / 20))


@pytest.fixture
def removing(tmp_path):
    """Return a function that makes a profile of steps, then a removal that takes so many milliseconds."""

    def make(length_ms, count=1):
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        for number in range(20):
            python.event("train", start_ms=100 * number, duration_ms=100, step_num=number, _r=1)
        for number in range(count):
            python.event("TFE_DeleteTensorHandle", start_ms=2000 + number * length_ms, duration_ms=length_ms)
        return tp.load(space.write(tmp_path / f"{length_ms}" / "host.xplane.pb"))

    return make


def test_the_removal_of_an_iterator_does_not_count(removing):
    """Whether it takes half a second is chance; of tensors, which take little each, it is work."""
    found = tp.compare(removing(600), removing(1))
    assert (found.summary["before_ms"], found.summary["after_ms"]) == pytest.approx((100, 100.05))
    assert any("Left out: 600 ms before and 0 s after" in note for note in found.notes)
    tensors = tp.compare(removing(2, count=500), removing(600)).summary
    assert (tensors["before_ms"], tensors["verdict"]) == (pytest.approx(150), "faster")


def busy(others_s):
    """The load of a machine with two processors, during ten seconds."""
    return {"machine_load": {"seconds": 10.0, "processors": 2, "busy_s": 8.0 + others_s, "own_s": 8.0}}


def test_other_programs_explain_a_difference(profile):
    compared = tp.compare(profile([1500] * 20, sidecar=busy(10)), profile([1000] * 20, sidecar=busy(0)))
    found = compared.summary
    assert (found["other_load_before_percent"], found["other_load_after_percent"]) == (50, 0)
    assert found["verdict"] == "too small to tell"  # half of the processors explains up to 2 times slower
    assert any("Other programs took 50% of the processors before and 0% after" in note for note in compared.notes)
    said = " ".join(str(compared.view()).split())
    assert "Not certain from one run of each: " in said
    assert "Too small" not in said
    assert "load on the machine differed between the two" in said
    assert "can't tell less than" not in said
    three_times = tp.compare(profile([3000] * 20, sidecar=busy(10)), profile([1000] * 20, sidecar=busy(0)))
    assert three_times.summary["verdict"] == "faster"
    slower = tp.compare(profile([1000] * 20, sidecar=busy(10)), profile([1500] * 20, sidecar=busy(0)))
    assert slower.summary["verdict"] == "slower"  # with less load


def test_a_larger_batch_is_compared_per_example(profile):
    """Steps that take twice as long for eight times the examples."""
    sides = [
        profile([length] * steps, sidecar={"graphs": graphs(f"float32[{batch},10];float32[{batch}]", 100)})
        for length, steps, batch in ((1000, 80, 4), (2000, 10, 32))
    ]
    compared = tp.compare(*sides)
    found = compared.summary
    assert (found["speedup_of"], found["speedup"]) == ("time per example", pytest.approx(4))
    assert (found["before_ms"], found["after_ms"]) == (pytest.approx(0.25), pytest.approx(0.0625))
    assert found["changes"] == ["batch size: 4 before, 32 after"]
    assert found["same_work"]
    assert found["step_speedup"] == 0.5
    assert row(compared.ops, op_type="MatMul")["unit"] == "us per example"
    assert row(compared.ops, op_type="MatMul")["before"] == pytest.approx(995 / 4)


def test_other_numbers_of_steps_are_compared_per_example(profile):
    sidecar = {"graphs": graphs("float32[4,10]", 100)}
    found = tp.compare(profile([1000] * 10, sidecar=sidecar), profile([500] * 30, sidecar=sidecar)).summary
    assert (found["speedup_of"], found["speedup"]) == ("time per example", pytest.approx(2))


def test_time_between_steps(profile):
    between = row(tp.compare(profile(SLOW, gap=400), profile(SLOW, gap=10)).steps, metric="between_steps_ms")
    assert (between["before"], between["after"]) == pytest.approx((0.4, 0.01))


def test_ops_are_per_step_whatever_the_number_of_steps(profile):
    op = row(tp.compare(profile([55] * 6), profile([35] * 12)).ops, op_type="MatMul")
    assert (op["before"], op["after"], op["change"], op["unit"]) == (50, 30, -20, "us per step")


def test_ops_that_are_new_or_gone(profile):
    compared = tp.compare(profile([55] * 5, op="old:Cos"), profile([35] * 5, op="new:Sin"))
    assert compared.only_before.to_dict("records") == [{"kind": "op", "name": "old", "time": 50, "unit": "us per step"}]
    assert compared.only_after["name"].tolist() == ["new"]
    gone = row(compared.ops, op_name="old")
    assert (gone["before"], gone["after"], gone["change_percent"]) == (50, 0, -100)
    assert np.isnan(row(compared.ops, op_name="new")["change_percent"])


def test_a_rebuilt_models_ops_are_matched(profile):
    compared = tp.compare(
        profile([55] * 5, op="net/dense/MatMul:MatMul"), profile([35] * 5, op="net_1/dense_1/MatMul:MatMul")
    )
    assert row(compared.ops, op_type="MatMul")["op_name"] == "net_1/dense_1/MatMul"
    assert compared.only_before.empty


def test_kernels(profile):
    kernel = row(tp.compare(profile([55] * 5, gpu=True), profile([55] * 5, gpu=True)).kernels, kernel="kernel")
    assert (kernel["before"], kernel["after"], kernel["change"]) == (10, 10, 0)


def allocating(folder, size):
    space = XSpace()
    stats = {"allocator_name": "a", "tf_op": "x", "address": 1, "fragmentation": 0.0, "peak_bytes_in_use": 0}
    sizes = dict.fromkeys(("bytes_allocated", "requested_bytes", "allocation_bytes"), size)
    line = space.plane("/host:CPU").line("python")
    line.event("MemoryAllocation", start_us=1, bytes_available=10, bytes_reserved=0, **stats, **sizes)
    return space.write(folder / "host.xplane.pb")


def test_memory_at_the_peak(tmp_path):
    compared = tp.compare(allocating(tmp_path / "1", 1000), allocating(tmp_path / "2", 400))
    peak = row(compared.memory, metric="peak_bytes")
    assert (peak["allocator"], peak["before"], peak["after"], peak["unit"]) == ("a", 1000, 400, "bytes")


def test_without_steps_the_captures_are_compared(tmp_path):
    compared = tp.compare(allocating(tmp_path / "1", 1000), allocating(tmp_path / "2", 400))
    assert compared.summary["speedup_of"] == "capture"
    assert compared.summary["verdict"] == "too small to tell"
    assert compared.table["metric"].tolist() == ["duration_ms"]
    assert compared.steps.empty
    assert any("Whole captures are compared" in note for note in compared.notes)


def test_several_profiles_are_repeats(profile):
    compared = tp.compare([profile([60 + k] * 2) for k in range(5)], [profile([35 + k] * 2) for k in range(5)])
    assert (compared.summary["measured_before"], compared.summary["before_ms"]) == (5, pytest.approx(0.062))
    op = row(compared.ops, op_type="MatMul")
    assert (op["before"], op["after"]) == (57, 32)
    assert op["p_value"] == pytest.approx(2 / 252)  # 5 and 5 have comb(10, 5) orders


def graphs(shapes, float_ops):
    """A sidecar of one function that takes its input from an iterator, and multiplies."""
    node = {"names": [0, 1], "ops": [0, 1], "devices": [2, 2], "outputs": [3, 2], "takes": [2, 2]}
    node |= {name: [-1, -1] for name in ("traces", "forward", "layers", "phases", "variables")}
    function = {
        "name": "f",
        "called": True,
        "batch": None,
        "inputs": [[], [0]],
        "float_ops": [None, float_ops],
        "calls": [],
    }
    return {"strings": ["IteratorGetNext", "MatMul", "", shapes], "functions": [function | node]}


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ({}, {}, None),
        ({}, {"hosts": ("a", "b")}, "hosts: 1 before, 2 after"),
        ({"gpu": True}, {}, "device: Nvidia GPU before, CPU after"),
        ({"mark": "train"}, {"mark": "predict"}, "kind of step: train before, predict after"),
        (
            {"sidecar": {"versions": {"tensorflow": "2.20.0"}}},
            {"sidecar": {"versions": {"tensorflow": "2.21.0"}}},
            "TensorFlow: 2.20.0 before, 2.21.0 after",
        ),
        (
            {"sidecar": {"graphs": graphs("float32[32,10];int64[32]", 100)}},
            {"sidecar": {"graphs": graphs("float32[64,10];int64[64]", 100)}},
            None,
        ),
        ({"sidecar": {"graphs": graphs("float32[8]", 100)}}, {"sidecar": {"graphs": graphs("float16[8]", 100)}}, None),
    ],
)
def test_different_work_is_recognised(profile, before, after, why):
    summary = tp.compare(profile(SLOW, **before), profile(FAST, **after)).summary
    assert summary["same_work"] is (why is None)
    assert summary["why_not_same"] == ([why] if why else [])


def test_unknown_parts_of_the_work_are_named(profile):
    notes = tp.compare(profile(SLOW), profile(FAST)).notes
    assert any("TensorFlow's version or the size of a batch or float ops changed" in note for note in notes)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (graphs("float32[32,10]", 100), graphs("float32[32,10]", 100), []),
        (graphs("float32[32,10]", 100), graphs("float32[64,10]", 100), ["batch size: 32 before, 64 after"]),
        (
            graphs("float32[32,10]", 100),
            graphs("float32[32,20]", 100),
            ["shapes of a batch: [32,10] before, [32,20] after"],
        ),
        (graphs("float32[32,10]", 100), graphs("float32[32,10]", 50), ["float ops per step: 100 before, 50.0 after"]),
    ],
)
def test_what_was_changed_is_said(profile, before, after, what):
    sides = (profile(SLOW, sidecar={"graphs": found}) for found in (before, after))
    assert tp.compare(*sides).summary["changes"] == what
