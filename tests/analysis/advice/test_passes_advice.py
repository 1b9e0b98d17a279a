"""Short passes over the data, fits of one batch, and validation that takes longer than the training."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tfprof_nb.analysis.advice.rules.input import short_passes
from tfprof_nb.analysis.advice.rules.python import long_validation
from tfprof_nb.analysis.source.code import Code


@pytest.mark.parametrize(
    ("recorded", "change"),
    [
        ("passes/short", "model.fit(data.repeat(), steps_per_epoch=4, epochs=12, verbose=0)"),
        (
            "passes/short_of_arrays",
            (
                "endless = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(16).repeat()"
                ".prefetch(tf.data.AUTOTUNE)\nmodel.fit(endless, steps_per_epoch=2, epochs=12, verbose=0)"
            ),
        ),
    ],
)
def test_passes_that_take_longer_to_start_than_to_run_are_made_one(captured, recorded, change):
    profile = captured(recorded)
    first = profile.advice.table.iloc[0]
    assert (first["rule"], first["place"]) == ("short-passes", "cell line 2")
    assert "training starts again in each of 12 epochs" in first["evidence"]
    assert first["change"] == change
    assert str(profile).splitlines()[2].startswith("Starting and ending passes over the data takes")


def test_waits_for_old_iterators_are_told_with_their_share_and_a_change_of_the_loop(captured):
    profile = captured("passes/ends")
    first = profile.advice.table.iloc[0]
    assert (first["rule"], first["place"]) == ("old-iterators-end", "cell line 3")
    assert first["node"] == "cell/train/end"
    assert first["severity"] != "info"
    assert 0 < first["gain_low_percent"] < first["estimated_gain_percent"]
    assert first["change"] == (
        "options = tf.data.Options()\noptions.autotune.enabled = False\nfor a, b in batches.with_options(options):"
    )
    assert str(profile).splitlines()[2].startswith("The program waits for old iterators of tf.data to end")


def test_what_is_endless_is_not(advised):
    assert "short-passes" not in advised("passes/repeated")["rule"].tolist()


def test_validation_that_takes_longer_than_the_training_is_told(captured):
    profile = captured("passes/long_validation")
    first = profile.advice.table.iloc[0]
    assert (first["rule"], first["place"]) == ("long-validation", "cell line 2")
    assert "3 validations of 400 batches took" in first["evidence"]
    assert first["change"] == (
        "model.fit(x, y, validation_data=(held_x, held_y), epochs=3, verbose=0, validation_batch_size=1024)"
    )
    assert str(profile).splitlines()[2].startswith("Validation takes ")


def test_fits_and_predictions_of_one_row_are_told_with_all_their_lines(advised, place_of, the_one):
    recorded = "passes/one_row_each"
    table = advised(recorded)
    fits, predictions = the_one(table, "fit-of-one-batch"), the_one(table, "predict-per-example")
    assert set(table["rule"].iloc[:2]) == {"fit-of-one-batch", "predict-per-example"}
    lines = [place_of(recorded, "learn", f"{model}.fit(") for model in ("actor", "critic")]
    assert fits["place"] in lines
    (other,) = {*lines} - {fits["place"]}
    assert f"Do the same at {other}." in fits["fix"]
    assert fits["change"] in (
        "actor.train_on_batch(state, then[None] - now[None])",
        "critic.train_on_batch(state, then[None])",
    )
    assert predictions["finding"].startswith("critic.predict is called again and again, for one batch each")
    assert predictions["change"] == (
        "now, then = critic.predict_on_batch(state)[0], critic.predict_on_batch(state * 0.9)[0]"
    )


def test_many_rows_are_no_single_batch(advised, the_one):
    table = advised("passes/many_batches_each")
    found = the_one(table, "predict-per-example")
    assert "on_batch" not in found["fix"] + found["change"]
    assert "one batch" not in found["finding"]
    assert "fit-of-one-batch" not in table["rule"].tolist()


def test_passes_of_validations_are_none_of_the_training():
    nodes = {
        "cell": (100.0, 1, ""),
        "cell/train": (60.0, 1, "cell"),
        "cell/train/step": (20.0, 6, "cell/train"),
        "cell/train/start": (30.0, 3, "cell/train"),
        "cell/validation": (30.0, 3, "cell"),
        "cell/validation/step": (6.0, 6, "cell/validation"),
        "cell/validation/start": (15.0, 3, "cell/validation"),
    }
    rows = [{"id": name, "total_ms": ms, "count": n, "parent": up, "place": ""} for name, (ms, n, up) in nodes.items()]
    steps = pd.DataFrame({"phase": "train", "epoch": [0, 0, 1, 1, 2, 2]})
    evidence = SimpleNamespace(
        breakdown=lambda: SimpleNamespace(table=pd.DataFrame(rows)), steps=SimpleNamespace(table=steps), code=Code({})
    )
    (case,) = short_passes.check(evidence, {})
    assert case.percent == pytest.approx(45)


@pytest.mark.parametrize(
    ("validation_end_ms", "train_end_ms", "percent"), [(0.0, 0.0, [50.0]), (15.0, 0.0, []), (15.0, 15.0, [35.0])]
)
def test_iterators_that_end_make_no_validation_long(validation_end_ms, train_end_ms, percent):
    """To remove an iterator takes nothing or half a second, by chance."""
    nodes = {
        "cell": (100.0, 1),
        "cell/train": (40.0, 1),
        "cell/train/end": (train_end_ms, 1),
        "cell/validation": (50.0, 3),
        "cell/validation/end": (validation_end_ms, 3),
    }
    tree = pd.DataFrame([{"id": name, "total_ms": ms, "count": n, "place": ""} for name, (ms, n) in nodes.items()])
    evidence = SimpleNamespace(breakdown=lambda: SimpleNamespace(table=tree), code=Code({}))
    assert [case.percent for case in long_validation.check(evidence, {})] == percent
