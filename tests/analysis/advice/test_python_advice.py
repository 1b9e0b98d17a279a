"""Programs with one planted fault in Python: the first finding names the cause and its place."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tfprof_nb.analysis.advice.evidence import training_ms
from tfprof_nb.analysis.advice.rules.python import sync_each_step
from tfprof_nb.analysis.advice.rules.python.python_in_loop import _fix_of
from tfprof_nb.analysis.source.code import Code


def test_a_heavy_callback_is_named_with_its_line(captured, place_of):
    recorded = "python/heavy_callback"
    p = captured(recorded)
    first = p.advice.table.iloc[0]
    assert (first["rule"], first["severity"], first["proved_by"]) == ("slow-callback", "high", "python")
    assert first["finding"].startswith("Heavy.on_train_batch_end takes")
    assert place_of(recorded, "Heavy", "time.sleep") in first["evidence"]
    assert first["place"] == place_of(recorded, "Heavy", "def on_train")
    assert first["change"] == ("def on_train_batch_end(self, batch, logs=None):\n    if batch % 5:\n        return")
    assert first["gain_low_percent"] < first["estimated_gain_percent"] <= first["gain_high_percent"] <= 100
    assert str(p).splitlines()[2].startswith("Heavy.on_train_batch_end takes")
    assert "python-between-ops" not in p.advice.table["rule"].tolist()


def test_a_checkpoint_in_every_batch_is_told_to_come_less_often(advised):
    first = advised("python/checkpoint_per_batch").iloc[0]
    assert first["rule"] == "slow-callback"
    assert first["finding"].startswith("ModelCheckpoint.on_train_batch_end takes")
    assert 'save_freq="epoch"' in first["fix"]


def test_a_slow_line_of_a_loop_is_named(advised, place_of):
    first = advised("python/slow_line").iloc[0]
    assert first["rule"] == "python-in-loop"
    assert "slow_metric" in first["finding"]
    assert first["place"] == place_of("python/slow_line", "slow_metric", "time.sleep")


@pytest.mark.parametrize(("waited_ms", "overlap"), [(20.0, 20.0), (80.0, 20.0), (100.0, 0.0)])
def test_a_wait_for_the_result_saves_no_more_than_can_run_meanwhile(waited_ms, overlap):
    call = {"file": "cell", "line": 2, "call": "EagerTensor.numpy", "library": "TensorFlow", "thread": "main"}
    calls = pd.DataFrame([call | {"self_ms": waited_ms, "outside_ms": 0.0, "samples": 50}])
    steps = pd.DataFrame({"host": "h", "start_ms": [0.0, 50.0], "step_ms": 50.0, "warm_up": False})
    evidence = SimpleNamespace(
        python=SimpleNamespace(calls=calls),
        steps=SimpleNamespace(table=steps),
        code=Code({"cell": "for x in data:\n    loss = step(x).numpy()"}),
        of_training=str,
    )
    (case,) = sync_each_step.check(evidence, {})
    assert case.percent == pytest.approx(overlap)


def test_eager_comes_before_the_python_that_it_causes(advised):
    findings = advised("python/run_eagerly")
    assert findings["rule"].iloc[0] == "eager-ops"
    assert findings["finding"].iloc[0].startswith("Ops run eagerly: run_eagerly")
    assert "Remove run_eagerly=eagerly: it" in findings["fix"].iloc[0]
    assert "python-between-ops" not in findings["rule"].tolist()


@pytest.mark.parametrize(
    ("recorded", "function", "traceable"),
    [("python/traceable", "rotate", True), ("python/not_traceable", "noted", False)],
)
def test_a_function_that_runs_op_by_op_beside_a_tf_function_is_told_to_be_one(
    advised, place_of, recorded, function, traceable
):
    first = advised(recorded).iloc[0]
    assert first["rule"] == "eager-line"
    assert first["finding"].startswith("Ops run eagerly: ")
    assert (first["place"] == place_of(recorded, function, f"def {function}")) == traceable
    assert first["change"] == ("@tf.function\ndef rotate(x):" if traceable else "")


def test_a_checkpoint_per_epoch_is_calm(advised):
    table = advised("python/checkpoint_per_epoch")
    assert not {"slow-callback", "frequent-writing"} & {*table["rule"]}


def test_a_callback_with_a_condition_is_told_which_number_to_raise(advised, place_of):
    first = advised("python/condition").iloc[0]
    place = place_of("python/condition", "Sometimes", "if batch")
    assert first["rule"] == "slow-callback"
    assert first["fix"] == (f"Let it run less often: raise self.every in `if batch % self.every == 0:` ({place}).")


def test_a_step_that_computes_has_no_finding_on_python(captured):
    p = captured("python/computing")
    assert not (p.advice.table["proved_by"] == "python").any()
    assert "POTENTIALLY" not in str(p)


def test_an_array_that_grows_is_told_to_be_joined_once_as_it_was():
    def fix(code):
        return _fix_of("", "<module>", code, "cell line 1", code, looping=False)

    joined = fix("rows = np.concatenate([rows, batch], axis=1)")
    assert "`rows_parts = [rows]` before the loop" in joined
    assert joined.endswith("`rows = np.concatenate(rows_parts, axis=1)`.")
    assert fix("rows = tf.concat((rows, batch), 0)").endswith("`rows = tf.concat(rows_parts, 0)`.")
    assert "parts" not in fix("rows = np.concatenate([others, batch])")


@pytest.mark.parametrize(("warm_up", "training"), [([True, False, False], 200), ([True, True, True], 300)])
def test_shares_are_of_the_time_without_warm_up_unless_every_step_is_warm_up(warm_up, training):
    """Three steps of 100 ms: where a function is traced in each of them, no other time is left."""
    table = pd.DataFrame({"host": "a", "start_ms": [0.0, 100.0, 200.0], "step_ms": 100.0, "warm_up": warm_up})
    assert training_ms(SimpleNamespace(steps=SimpleNamespace(table=table))) == training


def test_what_each_epoch_does_is_told_as_a_whole_and_not_per_step(advised):
    first = advised("python/epoch_ends").iloc[0]
    assert first["rule"] == "python-in-loop"
    assert first["finding"].startswith("write_samples")
    assert " ms in all, " in first["evidence"]
    assert "in few passes of `for epoch in range(4):` only, or once after the loop" in first["fix"]


def test_a_line_that_waits_for_other_threads_is_not_told_to_be_made_faster(captured):
    p = captured("python/workers")
    waits = p.python.table[p.python.table["library"] == "threading"]
    assert waits["between_steps_ms"].sum() > 0.3 * waits["self_ms"].sum() > 0
    assert "python-in-loop" not in p.advice.table["rule"].tolist()
