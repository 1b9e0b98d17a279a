"""Two programs in turn: the order, the statistics, and what is said."""

import time
from contextlib import nullcontext

import pytest

import tfprof_nb as tp
from clock import Clock
from tfprof_nb.capture import machine_load

SHORT_S, LONG_S = 0.005, 0.05
IDLE = {"seconds": 1.0, "processors": 2, "busy_s": 0.0, "own_s": 0.0}


@pytest.fixture
def clock(monkeypatch):
    """What runs are timed by, on a machine that does nothing else."""
    built = Clock()
    monkeypatch.setattr(machine_load, "time", built)
    monkeypatch.setattr(machine_load, "machine_load", lambda: nullcontext(lambda: IDLE))
    return built


@pytest.fixture
def programs(clock):
    """Two programs, and the calls of both in order."""
    calls = []

    def of(name, seconds):
        def program():
            calls.append(name)
            clock.sleep(seconds)

        return program

    return {"before": of("before", LONG_S), "after": of("after", SHORT_S)}, calls


def test_every_other_round_runs_in_the_opposite_order(programs):
    both, calls = programs
    found = tp.experiment(both, rounds=4, warmup=1)
    assert calls == [
        *("before", "after"),  # the warm-up
        *("before", "after", "after", "before"),
        *("before", "after", "after", "before"),
    ]
    assert found.runs["side"].tolist() == ["before"] * 4 + ["after"] * 4


def test_five_rounds_tell_ten_times_faster(programs):
    both, _ = programs
    found = tp.experiment(both)
    numbers = found.summary
    assert numbers["verdict"] == "faster"
    assert numbers["p_value"] < 0.05
    assert numbers["in_turn"]
    assert [numbers[f"speedup{bound}"] for bound in ("_low", "", "_high")] == pytest.approx(
        [LONG_S / SHORT_S] * 3, rel=0.03
    )
    assert numbers["before_ms"] == pytest.approx(1000 * LONG_S, rel=0.01)
    text = str(found)
    assert text.startswith("before: before · after: after")
    assert "times faster: one run took " in text
    assert "5 runs of each, 95% interval of the speedup: " in " ".join(text.split())


def test_the_same_program_twice_has_no_p_value_below_its_chance(clock):
    same = {"a": lambda: clock.sleep(LONG_S), "b": lambda: clock.sleep(LONG_S)}
    assert tp.experiment(same, rounds=2).summary["verdict"] == "too small to tell"
    once = str(tp.experiment(same, rounds=1))
    assert "So few rounds can't tell less than 100%: use rounds=5." in " ".join(once.split())


def test_an_interrupt_keeps_whole_rounds(programs):
    both, calls = programs

    def interrupted():
        if calls.count("before") > 4:
            raise KeyboardInterrupt
        both["after"]()

    found = tp.experiment({"before": both["before"], "after": interrupted}, rounds=9, warmup=0)
    assert found.notes[0] == "An interrupt ended the experiment after 4 of 9 rounds."
    assert found.summary["measured_before"] == found.summary["measured_after"] == 4


def test_an_interrupt_in_the_first_round_goes_on():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tp.experiment({"before": interrupted, "after": interrupted}, warmup=0)


def test_errors_of_the_programs_are_their_own(programs):
    both, _ = programs
    with pytest.raises(ZeroDivisionError):
        tp.experiment({"before": both["before"], "after": lambda: 1 / 0})


@pytest.mark.parametrize(
    ("wrong", "options"),
    [
        ({"a": print}, {}),
        ([print, print], {}),
        ({"a": print, "b": 3}, {}),
        ({"a": print, "b": print, "c": print}, {}),
        ({"a": print, "b": print}, {"rounds": 0}),
        ({"a": print, "b": print}, {"warmup": -1}),
    ],
)
def test_what_is_no_experiment(wrong, options):
    with pytest.raises(tp.TfprofError, match=r"Give two functions|must be at least"):
        tp.experiment(wrong, **options)


@pytest.mark.tensorflow
def test_a_model_trains_in_an_experiment(monkeypatch):
    """The wait for the devices is part of a run: TensorFlow has been imported."""
    tf = pytest.importorskip("tensorflow")
    waited = []
    monkeypatch.setattr(tf.test.experimental, "sync_devices", lambda: waited.append(time.perf_counter()))
    tp.experiment({"a": lambda: tf.add(1, 1), "b": lambda: tf.add(1, 1)}, rounds=1, warmup=0)
    assert len(waited) == 4  # before and after each run
