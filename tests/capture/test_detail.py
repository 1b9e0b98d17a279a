"""Ops are recorded until enough steps are known; marks go on, and so does the program."""

import sys
import time

import numpy as np
import pandas as pd
import pytest

from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.steps.breakdown import PARTS
from tfprof_nb.capture import detail as module
from tfprof_nb.capture.detail import Detail, _Tells
from tfprof_nb.capture.keras import keras_steps
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.python_stacks import python_stacks
from tfprof_nb.capture.recording import Recording
from tfprof_nb.capture.trace_level import MARKS, NOTHING, OPS, can_change_level
from tfprof_nb.capture.window import Window
from tfprof_nb.formats.marks import FETCH, OPS_BEGIN, OPS_END


@pytest.fixture(autouse=True)
def windows(monkeypatch):
    """Record ops as users do: other tests record all."""
    monkeypatch.setattr(module, "can_change_level", can_change_level)


class Drawn:
    """A detail on a clock that only steps move on, with the names of its events in order."""

    def __init__(self, monkeypatch):
        self.now, self.events, self.levels, self.poll = 0.0, [], [], Detail._poll
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(module, "_leave_event", self.events.append)
        monkeypatch.setattr(module, "set_level", self.levels.append)
        monkeypatch.setattr(module, "can_change_level", lambda: True)
        monkeypatch.setattr(Detail, "_poll", lambda *_: None)
        self.detail = Detail()
        self.detail.begin()

    def steps(self, count, seconds, name="train"):
        """Run steps; return of which ones ops were recorded from their beginning to their end."""
        whole = []
        for number in range(count):
            token = self.detail._step_began(name)
            began = self.detail.is_open
            self.now += seconds
            if began and self.detail.is_open:
                whole.append(number)
            self.detail._step_ended(token)
        return whole

    def calls(self, count, seconds, names=("step",), busy=1.0):
        """Call functions in turns, without marks; return of how many turns ops were recorded."""
        whole = 0
        for _ in range(count):
            began = self.detail.is_open
            for name in names:
                self.now += seconds
                self.detail._call_ended(name, busy * seconds)
            whole += began and self.detail.is_open
        return whole

    def loop(self, passes, parts, line="cell line 3"):
        """Run the passes of a loop; return which are recorded from their beginning to their end.

        A part of a pass is another loop, with its number of passes and their seconds, or what tells that a step ends.
        """
        whole = []
        for number in range(passes):
            self.detail._reached(line, again=number > 0)
            began = self.detail.is_open
            for place, part in enumerate(parts):
                if isinstance(part, tuple):
                    for inner in range(part[0]):
                        self.detail._reached(f"{line} {place}", again=inner > 0)
                        self.now += part[1]
                elif part:
                    self.now += 0.01
                    self.detail._passed(part, _Tells.STEPS)
            if began and self.detail.is_open:
                whole.append(number)
        return whole


@pytest.fixture
def drawn(monkeypatch):
    return Drawn(monkeypatch)


@pytest.mark.parametrize(
    ("seconds", "recorded"),
    [(2**-10, 2 + 154), (2**-4, 2 + 6), (0.5, 2 + 3), (4.0, 2 + 3)],
    ids=["1 ms", "63 ms", "500 ms", "4 s"],
)
def test_two_first_steps_and_enough_steady_ones(drawn, seconds, recorded):
    assert drawn.steps(400, seconds) == list(range(recorded))


def test_a_new_kind_of_step_is_recorded_again(drawn):
    drawn.steps(30, 0.05)
    assert drawn.steps(30, 0.05, "test") == list(range(8))
    assert drawn.steps(30, 0.05) == []
    assert drawn.events == [OPS_END, OPS_BEGIN, OPS_END]


def test_a_kind_that_never_lasts_is_recorded_three_times_and_then_within_the_share(drawn):
    drawn.steps(30, 0.05)
    recorded = []
    for _ in range(40):
        drawn.steps(1, 0.05)  # which ends the window
        recorded.append(bool(drawn.steps(1, 0.5, "test")))
    assert recorded[:3] == [True] * 3
    assert not all(recorded)
    # The last window may have opened just before the share was reached.
    assert drawn.detail._recorded_s <= module._FREE_S + module._SHARE * drawn.now + 1.0


@pytest.mark.parametrize("names", [("step",), ("generator", "discriminator", "metric")], ids=len)
def test_enough_calls_of_functions_are_recorded_where_nothing_marks_steps(drawn, names):
    whole = drawn.calls(400, 0.05, names)
    assert 7 <= whole <= 8  # the window ends with the last call of a turn
    assert drawn.calls(20, 0.05, (*names, "new")) == 6  # whole ones, from the first call of the new one on
    assert drawn.events == [OPS_END, OPS_BEGIN, OPS_END]


def test_a_call_that_is_over_needs_not_be_known(drawn):
    drawn.calls(1, 0.05, ("initializer",))
    assert drawn.calls(100, 0.05) < 25
    assert drawn.events == [OPS_END]


def test_a_loop_whose_time_is_not_that_of_its_functions_is_recorded(drawn):
    """Ops that run one by one may be what takes the time: only their recording tells."""
    assert drawn.calls(100, 0.05, busy=0.1) == 100


def test_enough_passes_of_nested_loops_are_recorded_the_outermost_as_well(drawn):
    whole = drawn.loop(100, [(8, 0.001), (8, 0.002)])
    assert len(whole) >= 6
    assert whole == list(range(len(whole)))
    assert len(whole) < 20
    assert drawn.events == [OPS_END]


def test_a_loop_around_the_steps_needs_not_be_known(drawn):
    """Epochs of two seconds: six of them would be the whole cell."""
    assert drawn.loop(10, [(100, 0.02)]) == []
    assert drawn.events[0] == OPS_END
    assert drawn.detail._recorded_s < 1.0


def test_the_loop_that_takes_batches_decides_whatever_loops_are_in_its_passes(drawn):
    """A step of four seconds, in which a loop goes over time: three whole ones are recorded after the first two."""
    whole = drawn.loop(20, [FETCH, (100, 0.04)])
    assert whole[:5] == [0, 1, 2, 3, 4]
    assert len(whole) <= 8


def test_many_loops_in_turns_do_not_hide_the_loop_that_takes_batches(drawn):
    """A step of six seconds that goes over two blocks of a model again and again."""
    recorded = []
    for step in range(12):
        drawn.now += 0.1
        drawn.detail._passed(FETCH, _Tells.STEPS)
        began = drawn.detail.is_open
        for layer in range(60):
            drawn.detail._reached(f"block {layer // 3 % 2}", again=layer % 3 > 0)
            drawn.now += 0.1
        if began and drawn.detail.is_open:
            recorded.append(step)
    assert recorded[:5] == [0, 1, 2, 3, 4]
    assert len(recorded) <= 8


def test_a_line_that_is_reached_for_the_first_time_is_recorded(drawn):
    drawn.loop(50, [(1, 0.05)])
    assert not drawn.detail.is_open
    drawn.detail._reached("cell line 3", again=False)
    assert not drawn.detail.is_open
    drawn.detail._reached("cell line 9", again=False)
    assert drawn.detail.is_open


def test_loops_that_hold_marked_steps_do_not_end_what_is_recorded_between_these(drawn):
    drawn.steps(30, 0.05)
    for _ in range(30):
        drawn.steps(1, 0.05)
        drawn.detail._pass_ended()
        drawn.detail._reached("cell line 3", again=True)
        assert drawn.detail.is_open


def test_calls_inside_marked_steps_are_no_steps(drawn):
    token = drawn.detail._step_began("train")
    drawn.calls(50, 0.05)
    drawn.detail._step_ended(token)
    assert drawn.events == []


def test_calls_after_a_step_that_the_end_of_the_data_cut_short_are_steps(drawn):
    drawn.steps(30, 0.05)
    drawn.detail._step_began("train")
    drawn.detail._pass_ended()
    assert 7 <= drawn.calls(50, 0.05) <= 10


def test_the_first_turn_of_a_pass_is_recorded_from_the_end_of_the_one_before(drawn):
    drawn.calls(30, 0.05)
    drawn.detail._pass_ended()
    drawn.now += 5.0
    assert drawn.calls(30, 0.05) <= 2
    assert drawn.events == [OPS_END, OPS_BEGIN, OPS_END]


@pytest.mark.parametrize(("recorded_s", "recorded"), [(0.0, [0, 1]), (60.0, [])], ids=["within the share", "beyond it"])
def test_the_end_of_a_pass_is_recorded_up_to_the_next_step(drawn, recorded_s, recorded):
    """Old iterators end there, and new ones begin; the first steps of the next pass only within the share."""
    drawn.steps(30, 0.05)
    drawn.detail._recorded_s = recorded_s
    drawn.detail._pass_ended()
    assert drawn.detail.is_open
    drawn.now += 5.0
    assert drawn.steps(30, 0.05) == recorded
    assert drawn.events == [OPS_END, OPS_BEGIN, OPS_END]


@pytest.mark.tensorflow
def test_the_end_of_data_is_heard_in_keras_and_in_loops_of_ones_own(monkeypatch, model, data):
    heard = []
    monkeypatch.setattr(Detail, "_pass_ended", lambda _: heard.append(1))
    with keras_steps(), Detail().watching():
        model().fit(data, epochs=2, validation_data=data, verbose=0)
        assert len(heard) == 4
        for _ in data:
            pass
    assert len(heard) == 5


def test_a_short_program_leaves_no_events_and_none_come_after_the_end(drawn):
    drawn.steps(7, 0.05)
    drawn.detail.end()
    drawn.steps(50, 0.05)
    assert (drawn.events, drawn.levels) == ([], [])


def test_between_windows_nothing_is_recorded_but_marks_made_in_python_once_events_are_many(drawn):
    drawn.steps(30, 0.05)
    drawn.detail.leave_out_runtime()
    drawn.steps(30, 0.05, "test")
    drawn.detail.end()
    assert drawn.levels == [MARKS, NOTHING, OPS, NOTHING, MARKS]


def test_code_without_marks_is_recorded_after_marked_steps(drawn):
    drawn.steps(30, 0.05)
    assert not drawn.detail.is_open
    drawn.now += 10
    drawn.poll(drawn.detail, _Once())
    assert drawn.detail.is_open


class _Once:
    """A ticker that ticks once."""

    ended = False

    def __iter__(self):
        yield


@pytest.fixture
def recorded(tmp_path, model, data):
    """Train 2,000 steps, and return the profile."""
    from tfprof_nb import load

    def run(**window):
        fitted = model()
        recording = Recording(tmp_path, Options(), window=Window(**window)).start()
        fitted.fit(data.repeat(50), verbose=0)
        return load(recording.stop())

    return run


@pytest.mark.tensorflow
def test_all_steps_are_marked_and_the_ops_of_some_are_recorded(recorded):
    table = recorded().steps.table
    assert len(table) == 2000
    count = int(table["ops_recorded"].sum())
    assert 6 <= count < 2000


@pytest.mark.tensorflow
def test_all_ops_are_recorded_where_that_is_asked_for(recorded):
    assert recorded(record_all=True).steps.table["ops_recorded"].all()


@pytest.mark.tensorflow
def test_steps_of_a_loop_of_ones_own_are_whole_though_the_ops_of_some_are_recorded(tmp_path):
    import tensorflow as tf

    from tfprof_nb import load

    @tf.function
    def step(x):
        return tf.reduce_sum(tf.tanh(x @ x))

    recording = Recording(tmp_path, Options()).start()
    for batch in tf.data.Dataset.from_tensors(tf.ones((64, 64))).repeat(3000):
        step(batch)
    steps = load(recording.stop()).steps
    assert len(steps.table) == 3000
    assert steps.summary["source"] == "inferred"
    assert 6 <= steps.table["ops_recorded"].sum() < 3000


@pytest.mark.tensorflow
def test_an_iterator_per_batch_ends_within_its_step(tmp_path):
    import tensorflow as tf

    from tfprof_nb import load

    def rows():
        try:
            yield from range(4)
        finally:  # what ends the iterator waits for this
            time.sleep(0.015)

    data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((), tf.int64)).batch(2)
    weights = tf.Variable(tf.ones((500, 500)))

    @tf.function
    def step(batch):
        return tf.reduce_sum(batch), weights @ weights

    recording = Recording(tmp_path, Options()).start()
    for _ in range(120):
        batch = next(iter(data))
        step(batch)
    steps = load(recording.stop()).steps.table
    assert len(steps) == 120
    assert steps["ops_recorded"].sum() < 120
    # Each begins where the one before it ended: it includes the wait for its batch.
    ends_ms = (steps["start_ms"] + steps["step_ms"]).to_numpy()
    assert steps["start_ms"].to_numpy()[1:] == pytest.approx(ends_ms[:-1])


@pytest.mark.tensorflow
def test_calls_from_python_are_heard_but_not_those_that_a_graph_makes(monkeypatch):
    import tensorflow as tf

    heard = []
    monkeypatch.setattr(Detail, "_call_ended", lambda _, name, seconds: heard.append((name, seconds >= 0)))

    @tf.function
    def inner(x):
        return x + 1

    @tf.function
    def outer(x):
        return inner(x) * 2

    with Detail().watching():
        outer(tf.constant(1.0))
        inner(tf.constant(1.0))
    assert heard == [("outer", True), ("inner", True)]


@pytest.mark.tensorflow
def test_a_call_that_runs_when_watching_begins_is_not_heard_and_does_not_fail(monkeypatch):
    import tensorflow as tf

    heard = []
    monkeypatch.setattr(Detail, "_call_ended", lambda _, name, seconds: heard.append(name))
    watching = Detail().watching()

    @tf.function
    def begins(x):
        watching.__enter__()  # while Python traces it
        return x + 1

    begins(tf.constant(1.0))
    watching.__exit__(None, None, None)
    assert heard == []


@pytest.mark.tensorflow
def test_once_events_are_many_the_runtime_leaves_none_in_steps_whose_ops_are_not_recorded(tmp_path, model, data):
    import keras

    from tfprof_nb import load

    fitted, recording = model(), Recording(tmp_path, Options()).start()
    less = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: batch == 200 and recording._detail.leave_out_runtime()
    )
    fitted.fit(data.repeat(50), verbose=0, callbacks=[less])
    profile = load(recording.stop())
    assert_windows(profile, 2000)
    table, (forest,) = profile.steps.table, profile.data.forests
    runs = forest.host.start_ps[np.flatnonzero(forest.named("EagerExecute"))]
    recorded, has_runs = table["ops_recorded"], pd.Series(False, index=table.index)
    has_runs.iloc[np.searchsorted(PS_PER_MS * table["start_ms"], runs, side="right") - 1] = True
    within = recorded | recorded.shift(fill_value=False) | recorded.shift(-1, fill_value=False)  # or cut by a window
    assert has_runs[:200].all()
    assert not has_runs[201:-1][~within].any()  # after the last, what ends is recorded


def profiled(tmp_path, run):
    """Record a call, and return its profile."""
    from tfprof_nb import load

    recording = Recording(tmp_path, Options(), {"python": python_stacks()}).start()
    run()
    return load(recording.stop())


def assert_windows(profile, steps):
    """All steps count and add up, and the ops of some were recorded."""
    table = profile.steps.table
    assert len(table) == steps
    assert 3 <= table["ops_recorded"].sum() < steps / 2
    assert table[PARTS].sum(axis=1).to_numpy() == pytest.approx(table["step_ms"].to_numpy())
    tree = profile.breakdown.table.set_index("id")
    children = tree.groupby("parent")["total_ms"].sum().reindex(tree.index, fill_value=0.0)
    assert (children + tree["self_ms"]).to_numpy() == pytest.approx(tree["total_ms"].to_numpy())
    assert any("Ops were recorded in" in note for note in profile.steps.notes)


@pytest.mark.tensorflow
def test_batches_of_a_loop_that_runs_op_by_op_are_steps_though_the_ops_of_some_are_recorded(tmp_path):
    import tensorflow as tf

    def run():
        for _ in range(2):
            for batch in tf.data.Dataset.from_tensors(tf.ones((32, 32))).repeat(1000):
                for _ in range(3):
                    tf.tanh(batch @ batch)

    profile = profiled(tmp_path, run)
    assert_windows(profile, 2 * 1000)
    assert set(profile.steps.table["step_name"]) == {"batch"}


@pytest.mark.tensorflow
def test_gradients_tell_the_passes_of_a_loop_of_which_nothing_else_does(tmp_path):
    import tensorflow as tf

    weights = [tf.Variable(tf.ones((32, 32))) for _ in range(4)]

    def run():
        for _ in range(1000):
            with tf.GradientTape() as tape:
                loss = tf.add_n([tf.reduce_sum(weight) for weight in weights])
            for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
                weight.assign_sub(gradient)

    profile = profiled(tmp_path, run)
    # Before Python 3.12 nothing tells where the last pass ends.
    assert_windows(profile, 1000 if hasattr(sys, "monitoring") else 999)
    assert set(profile.steps.table["phase"]) == {"train"}


@pytest.mark.tensorflow
def test_runs_of_a_session_are_steps_though_the_ops_of_some_are_recorded(tmp_path):
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        given = tf.compat.v1.placeholder(tf.float32, (64, 64))
        product = tf.tanh(given @ given)

        def run():
            for _ in range(2000):
                session.run(product, {given: [[0.5] * 64] * 64})

        profile = profiled(tmp_path, run)
    assert_windows(profile, 2000)
    assert "each run of a session counts as a step" in profile.steps.notes[0]
