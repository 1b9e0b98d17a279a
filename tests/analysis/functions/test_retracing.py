"""Which argument caused retracing, for functions that TensorFlow traced during a capture."""

from typing import NamedTuple

import pytest

import tfprof_nb as tp

pytestmark = pytest.mark.tensorflow


class Point(NamedTuple):
    place: object
    size: int


class Settings:
    pass


def passed(x, argument):
    return x if argument is None else x + 1


def new_function(x):
    import tensorflow as tf

    @tf.function
    def inner(x):
        return x + 1

    return inner(x)


def calls(tf):
    """For each name the arguments of its calls, and what the cause must say."""
    ones = tf.ones
    kept = Settings()
    return {
        "number": (range(4), ["`argument` was a new Python value each time (0, 1, 2, ...)", "tf.constant(argument)"]),
        "shape": (
            [ones((32, size)) for size in (8, 9, 10, 11)],
            ["had the shapes (32, 8), (32, 9), (32, 10), ...", "@tf.function(reduce_retracing=True)"],
        ),
        "rank": ([ones((2,)), ones((2, 2))], ["had the shapes (2,), (2, 2)", "@tf.function(reduce_retracing=True)"]),
        "dtype": ([ones(2), ones(2, tf.float64)], ["had the dtypes float32, float64: convert"]),
        "none": ([None, ones(2)], ["had the values None, a tensor float32[2]"]),
        "objects": ([Settings() for _ in range(3)], ["was a different object each time"]),
        "flags": ([True, False], ["Python values True, False"]),
        "texts": (["a" * 80, "b" * 80], ["Python values str #"]),
        "lengths": ([[ones(2)], [ones(2)] * 2], ["`argument` had the structures list of 1, list of 2"]),
        "inside": ([{"step": step} for step in range(3)], ["argument `argument['step']` was a new Python value"]),
        "fields": ([Point(ones(2), size) for size in range(3)], ["argument `argument['size']` was a new Python value"]),
        "same_object": ([kept] * 3, []),
        "same": ([ones(2)] * 3, []),
    }


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    import tensorflow as tf

    traced = {}
    with tp.profile(logdir=tmp_path_factory.mktemp("logs")) as p:
        for name, (arguments, _) in calls(tf).items():

            def python(x, argument):
                return passed(x, argument)

            python.__name__ = name
            traced[name] = tf.function(python, autograph=False)
            for argument in arguments:
                traced[name](tf.ones(2), argument)
        for _ in range(4):
            new_function(tf.ones(2))
    return p


def cause(profile, name):
    (found,) = set(profile.functions.table.set_index("function").loc[[name], "cause"])
    return found


def test_each_cause_names_the_argument_and_what_to_do(profile):
    import tensorflow as tf

    for name, (_, said) in calls(tf).items():
        found = cause(profile, name)
        assert bool(found) == bool(said), name
        for words in said:
            assert words in found, name
        assert "`x`" not in found


def test_a_function_made_again_in_each_call_is_named(profile):
    assert "tf.function was applied again" in cause(profile, "inner")


def test_functions_made_anew_are_named_also_where_each_has_several_shapes(tmp_path):
    import tensorflow as tf

    def made():
        @tf.function
        def step(x):
            return x + 1

        return step

    with tp.profile(logdir=tmp_path) as p:
        for step in [made() for _ in range(4)]:
            for size in (2, 3, 4):
                step(tf.ones(size))
    assert cause(p, "step").startswith("at least 4 functions of this name were traced: tf.function was applied again")


def test_notes_and_a_loaded_profile_have_them_too(profile):
    assert any(note.startswith("number: argument `argument`") for note in profile.functions.notes)
    loaded = tp.load(profile.files[0].parent)
    assert cause(loaded, "shape") == cause(profile, "shape")


def test_tracing_before_the_capture_has_no_cause(tmp_path):
    import tensorflow as tf

    earlier = tf.function(lambda x, step: x)
    for step in range(3):
        earlier(tf.ones(2), step)
    with tp.profile(logdir=tmp_path) as p:
        for step in range(3):
            earlier(tf.ones(2), step)
    assert set(p.functions.table["cause"]) == {""}


def test_values_of_tensors_and_objects_are_not_written(profile):
    graphs = profile.data.graphs[0]
    texts = [text for signature in graphs.functions["signature"] for _, _, text in signature]
    assert not any("Settings" in text or "aaaa" in text for text in texts)
    assert max(map(len, texts)) <= 60


def test_functions_of_keras_are_not_told_to_be_applied_once():
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.Dense(1)])
    x = np.ones((8, 4), "float32")
    with tp.profile() as p:
        for _ in range(3):
            model.compile("sgd", "mse")
            model.fit(x, x[:, :1], verbose=0)
            model.evaluate(x, x[:, :1], verbose=0)
    notes = [note for note in p.functions.notes if note.startswith("multi_step_on_iterator")]
    (note,) = notes
    assert "Keras traces it for each model and phase (train, test, predict), and again after compile()" in note
    assert "Apply it once" not in note
