"""ProfileCallback captures the batches that it was asked for, alone, beside other callbacks and inside captures."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from IPython.core.interactiveshell import InteractiveShell

import tfprof_nb as tp

X = np.random.default_rng(0).normal(size=(80, 3)).astype("float32")
BATCHES = 40


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    with tp.profile():  # nothing stayed behind that would keep this from running
        pass


class Counted(keras.Model):
    """A subclassed model with a training step of its own."""

    def __init__(self):
        super().__init__()
        self.layer = keras.layers.Dense(2)

    def call(self, x):
        return self.layer(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        variables = self.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return {"loss": loss}


def model(kind=keras.Sequential, **options):
    keras.utils.set_random_seed(1)
    built = kind([keras.Input((3,)), keras.layers.Dense(2)]) if kind is keras.Sequential else kind()
    built.compile("sgd", "mse", **options)
    return built


def fit(fitted, *callbacks, **options):
    return fitted.fit(X, X[:, :2], batch_size=2, shuffle=False, verbose=0, callbacks=list(callbacks), **options)


@pytest.mark.parametrize(
    ("batches", "steps"),
    [
        (15, 1),
        ((10, 20), 11),
        ([10, 20], 11),
        ("10, 20", 11),
        ("10,20", 11),
        ("7", 1),
        (1, 1),
        ((1, 3), 3),
        ((BATCHES, BATCHES), 1),
        ((38, 43), 6),
        ((70, 500), 11),
    ],
)
def test_those_batches_and_no_others_are_steps(batches, steps):
    callback = tp.ProfileCallback(batches)
    fit(model(), callback, epochs=2)
    assert callback.profile.steps.summary["steps"] == steps
    assert set(callback.profile.steps.table["phase"]) == {"train"}
    assert callback.profile is tp.last()


def test_the_steps_have_the_batches_own_numbers_and_epochs():
    callback, later = tp.ProfileCallback((38, 43)), tp.ProfileCallback((60, 60))
    fit(model(), callback, later, epochs=2)
    table = callback.profile.steps.table
    assert table.index.tolist() == [38, 39, 40, 41, 42, 43]
    assert table["step_name"].tolist() == [f"train {number}" for number in table.index]
    assert table["epoch"].tolist() == [0, 0, 0, 1, 1, 1]
    assert "epoch" in str(callback.profile.steps)
    assert later.profile.steps.table["epoch"].to_dict() == {60: 1}


def test_it_says_where_and_under_what_name(tmp_path):
    callback = tp.ProfileCallback((2, 3), name="few", logdir="elsewhere")
    fit(model(), callback)
    assert callback.profile.name == "few"
    assert tmp_path / "elsewhere" in callback.profile.files[0].parents


def test_validation_after_the_last_batch_is_left_out():
    callback = tp.ProfileCallback((BATCHES - 1, BATCHES))
    fit(model(), callback, validation_data=(X, X[:, :2]), epochs=2)
    assert set(callback.profile.steps.table["phase"]) == {"train"}
    assert callback.profile.steps.summary["steps"] == 2


@pytest.mark.parametrize(
    "batches", ["x", "", "1,2,3", (1, 2, 3), (20, 10), -1, (-1, 5), (0, 5), None, 1.5, True, ("a", "b"), ()]
)
def test_wrong_batches(batches):
    with pytest.raises(ValueError, match="batches must be the number of a batch"):
        tp.ProfileCallback(batches)


def test_none():
    callback = tp.ProfileCallback(0)
    with pytest.raises(tp.CaptureError, match=r"give this callback to model\.fit"):
        callback.profile  # noqa: B018
    fit(model(), callback)
    with pytest.raises(tp.CaptureError, match="asks for none"):
        callback.profile  # noqa: B018


def test_a_fit_that_ends_too_early_says_so():
    callback = tp.ProfileCallback((500, 520))
    with pytest.warns(UserWarning, match="ended after 40 batches, before batch 500, the first to capture"):
        fit(model(), callback)
    with pytest.raises(tp.CaptureError, match="ended after 40 batches"):
        callback.profile  # noqa: B018


def test_each_fit_makes_a_profile():
    callback, fitted = tp.ProfileCallback((2, 4)), model()
    fit(fitted, callback)
    first = callback.profile
    fit(fitted, callback)
    assert callback.profile.files != first.files


def test_a_profile_that_cannot_be_saved_does_not_harm_the_fit(tmp_path):
    def disturb(batch, logs):
        if batch == 3:
            (folder,) = tmp_path.glob("tfprof_logs/.capturing-*")
            (folder / "plugins").touch()  # where TensorFlow needs a folder

    callback = tp.ProfileCallback((2, 10))
    with pytest.warns(UserWarning, match="The profile could not be saved"):
        history = fit(model(), callback, keras.callbacks.LambdaCallback(on_train_batch_end=disturb))
    assert len(history.history["loss"]) == 1
    with pytest.raises(tp.CaptureError, match="The profile could not be saved"):
        callback.profile  # noqa: B018


def failing(batch, logs):
    if batch == 12:
        raise ValueError("stop here")


def test_after_an_error_the_profile_up_to_there_is_at_hand():
    callback = tp.ProfileCallback((10, 30))
    with pytest.raises(ValueError, match="stop here"):
        fit(model(), callback, keras.callbacks.LambdaCallback(on_train_batch_begin=failing))
    assert callback.profile.steps.summary["steps"] == 3


def test_an_error_ends_the_capture_with_the_cell():
    callback, shell = tp.ProfileCallback((10, 30)), InteractiveShell.instance()
    others = keras.callbacks.LambdaCallback(on_train_batch_begin=failing)
    shell.push({"run": lambda: fit(model(), callback, others)})
    result = shell.run_cell("run()")
    InteractiveShell.clear_instance()
    assert isinstance(result.error_in_exec, ValueError)
    with tp.profile():  # the next cell can
        pass
    assert callback.profile.steps.summary["steps"] == 3
    assert not shell.events.callbacks["post_run_cell"]


def test_beside_a_tensorboard_callback_that_does_not_profile():
    callback = tp.ProfileCallback((2, 4))
    fit(model(), keras.callbacks.TensorBoard("board", profile_batch=0), callback)
    assert callback.profile.steps.summary["steps"] == 3


def test_a_tensorboard_callback_that_profiles_already_goes_on(tmp_path):
    callback = tp.ProfileCallback((12, 14))
    with pytest.warns(UserWarning, match=r"Batches 12 to 14 were not captured\. Another TensorFlow profiler"):
        fit(model(), keras.callbacks.TensorBoard("board", profile_batch=(10, 20)), callback)
    with pytest.raises(tp.CaptureError, match="Batches 12 to 14 were not captured"):
        callback.profile  # noqa: B018
    assert tp.load("board").steps.summary["steps"] == 11


def test_a_tensorboard_callback_that_profiles_later_takes_over():
    callback = tp.ProfileCallback((5, 30))
    fit(model(), keras.callbacks.TensorBoard("board", profile_batch=(10, 20)), callback)
    assert callback.profile.files == tuple(file.absolute() for file in tp.load("board").files)
    assert "ran a profiler of its own" in callback.profile.overview.notes[-1]


def test_inside_a_capture_that_one_records_just_these_batches():
    callback = tp.ProfileCallback((10, 12))
    with tp.profile("outer") as p:
        fit(model(), callback)
    assert callback.profile is p
    assert p.steps.summary["steps"] == 3
    assert "A ProfileCallback limited this capture to batches 10 to 12 of model.fit." in p.overview.notes


def test_batches_of_two_callbacks_must_lie_apart():
    first, apart, within = tp.ProfileCallback((3, 8)), tp.ProfileCallback((10, 12)), tp.ProfileCallback((5, 6))
    with pytest.warns(UserWarning, match="Batches 5 to 6 were not captured. .* another ProfileCallback"):
        fit(model(), first, apart, within)
    assert [callback.profile.steps.summary["steps"] for callback in (first, apart)] == [6, 3]
    with pytest.raises(tp.CaptureError, match="another ProfileCallback"):
        _ = within.profile


def test_inside_a_capture_the_first_callback_keeps_its_batches():
    first, second = tp.ProfileCallback((3, 8)), tp.ProfileCallback((10, 12))
    with pytest.warns(UserWarning, match="Batches 10 to 12 were not captured"), tp.profile() as p:
        fit(model(), first, second)
    assert first.profile is p
    assert p.steps.summary["steps"] == 6


def test_inside_a_capture_without_its_batches_that_one_stays_whole():
    callback = tp.ProfileCallback((500, 510))
    with pytest.warns(UserWarning, match="ended after 40 batches"), tp.profile() as p:
        fit(model(), callback)
    assert p.steps.summary["steps"] == BATCHES


@pytest.mark.parametrize(
    ("kind", "options", "note"),
    [
        (keras.Sequential, {"steps_per_execution": 2}, "one execution of 2 batches"),
        (keras.Sequential, {"jit_compile": True}, "XLA fuses"),
        (keras.Sequential, {"run_eagerly": True}, ""),
        (Counted, {}, ""),
        (Counted, {"run_eagerly": True}, ""),
    ],
)
def test_every_way_to_run_a_model(kind, options, note):
    callback = tp.ProfileCallback((3, 6))
    fit(model(kind, **options), callback)
    assert callback.profile.steps.summary["steps"] == 4
    assert note in " ".join(callback.profile.steps.notes)


def test_training_is_the_same_to_the_last_bit():
    plain, profiled = model(), model()
    losses = fit(plain, epochs=2).history
    assert fit(profiled, tp.ProfileCallback((10, 20)), epochs=2).history == losses
    for expected, weights in zip(plain.get_weights(), profiled.get_weights(), strict=True):
        np.testing.assert_array_equal(weights, expected)
