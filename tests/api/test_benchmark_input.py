"""An input pipeline by itself: the planted stage is named, what-ifs are true, and nothing of the user's changes.

Where times are compared, they are those of a clock that only the planted code moves on, `Clock`.
"""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest
import tensorflow as tf

import tfprof_nb as tp
from clock import Clock
from tfprof_nb.capture.benchmark_input import draws, measure, python_inputs
from tfprof_nb.render.text import text_view

SECONDS = 3.0
SLOW_S = 0.015
DRAWS = "tfprof_nb draws batches"  # the thread that waits for batches


@pytest.fixture
def clock(monkeypatch):
    """The clock that is measured by."""
    built = Clock()
    monkeypatch.setattr(draws, "_POLL_S", None)  # who waits for the end doesn't look
    for module in (draws, measure, python_inputs):
        monkeypatch.setattr(module, "time", built)
    monkeypatch.setitem(globals(), "time", built)
    return built


def in_python(i):
    def work(value):
        time.sleep(SLOW_S)
        return value

    return tf.numpy_function(work, [i], tf.int64)


def slow_generator():
    for i in range(400):
        time.sleep(SLOW_S)
        yield i


def from_slow_generator():
    return tf.data.Dataset.from_generator(slow_generator, output_signature=tf.TensorSpec((), tf.int64))


def cheap(i):
    return i + 1


def opened(i):
    return tf.data.Dataset.from_tensors(tf.ensure_shape(in_python(i), ()))


def in_turns():
    """Options without the buffer that TensorFlow adds: its thread would move the clock on between two batches."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return options


def planted(kind):
    data = tf.data.Dataset
    return {
        "many files": lambda: data.range(400).interleave(opened, cycle_length=1).batch(2),
        "Python map": lambda: data.range(4000).shuffle(16).map(in_python).batch(2),
        "no prefetch": lambda: data.range(4000).batch(2).map(in_python).map(cheap),
        "generator": lambda: from_slow_generator().map(cheap).batch(2),
        "huge shuffle": lambda: data.range(40).with_options(in_turns()).map(in_python).shuffle(100_000).batch(2),
    }[kind]()


@pytest.mark.parametrize(
    ("kind", "stage"),
    [
        ("many files", "interleave("),
        ("Python map", "map(in_python)"),
        ("no prefetch", "map(in_python)"),
        ("generator", "from_generator(slow_generator)"),
        ("huge shuffle", "shuffle(100000)"),
    ],
)
@pytest.mark.filterwarnings("ignore:slow_generator is called anew")
def test_the_stage_that_adds_most_is_the_planted_one(clock, kind, stage):
    measured = tp.benchmark_input(planted(kind), seconds=SECONDS)
    assert measured.summary["bottleneck"].startswith(stage)
    assert measured.summary["batch_ms"] > 0
    assert (measured.table["kind"] == "whole").sum() == 1


def test_stages_are_in_order_and_the_one_that_waits_adds_most(clock):
    dataset = tf.data.Dataset.range(4000).map(in_python).batch(2).prefetch(2)
    table = tp.benchmark_input(dataset, seconds=SECONDS).table
    stages = table[table["kind"].isin(["stage", "whole"])]
    assert stages["name"].tolist() == ["range", "map(in_python)", "batch(2)", "prefetch(2)"]
    assert stages["added_ms"].iloc[1] == stages["added_ms"].max()
    assert 2 * stages["batch_ms"].iloc[0] < stages["batch_ms"].iloc[1]
    assert stages["batch_ms"].iloc[1] > SLOW_S * 1e3
    assert (stages["batch_ms_low"] <= stages["batch_ms"]).all()
    assert (stages["batch_ms"] <= stages["batch_ms_high"]).all()


def test_a_what_if_takes_as_long_as_the_program_rewritten(clock):
    measured = tp.benchmark_input(tf.data.Dataset.range(4000).map(in_python).batch(4), seconds=SECONDS)
    assert measured.summary["batch_ms"] > 4 * SLOW_S * 1e3 / 2
    predicted = measured.table.set_index("name").at["cached", "batch_ms"]
    rewritten = tf.data.Dataset.range(120).map(in_python).cache().batch(4)
    list(rewritten)
    begin = clock.perf_counter()
    list(rewritten)
    really = 1e3 * (clock.perf_counter() - begin) / 30
    assert predicted == pytest.approx(really, abs=0.5)


def test_the_code_of_the_best_what_if_runs_and_makes_the_same_elements(clock):
    numbers = np.arange(24)
    data = tf.data.Dataset.from_tensor_slices(numbers).map(in_python).shuffle(4, seed=5).batch(8)
    measured = tp.benchmark_input(data, seconds=SECONDS)
    before = [batch.numpy().tolist() for batch in data]
    assert measured.summary["best"] == "cached"
    assert ".from_tensor_slices(numbers)\n    .map(in_python)\n    .cache()\n    .shuffle(4, seed=5)" in measured.code
    space = {"numbers": numbers, "in_python": in_python}
    exec(measured.code if "import" in measured.code else f"import tensorflow as tf\n{measured.code}", space)
    assert [batch.numpy().tolist() for batch in space["data"]] == before
    assert sorted(np.concatenate(list(space["data"]))) == list(numbers)


def shuffled_and_random(state):
    """A pipeline with every kind of state: a shuffle, a generator of random numbers, a variable, NumPy's numbers."""
    tf.random.set_seed(7)
    generator = tf.random.Generator.from_seed(3)

    def with_noise(i):
        state.assign_add(1)
        noise = tf.numpy_function(np.random.rand, [], tf.float64)
        return tf.cast(i, tf.float32) + generator.normal(()), tf.random.uniform(()), noise

    return tf.data.Dataset.range(50).shuffle(50, seed=2).map(with_noise).shuffle(10).batch(5)


def drawn(dataset):
    return [np.stack([np.asarray(part, np.float64) for part in batch]) for batch in dataset]


def test_the_users_dataset_seeds_and_variables_stay_as_they_were():
    def program(measure):
        np.random.seed(11)  # noqa: NPY002
        random.seed(12)
        state = tf.Variable(0)
        dataset = shuffled_and_random(state)
        if measure:
            tp.benchmark_input(dataset, seconds=1)
        passes = [drawn(dataset), drawn(dataset)]
        return passes, int(state), random.random(), np.random.rand(), float(tf.random.uniform(()))  # noqa: NPY002

    plain, measured = program(False), program(True)
    for one, other in zip(plain[0], measured[0], strict=True):
        np.testing.assert_array_equal(one, other)
    assert plain[1:] == measured[1:]


def test_caches_are_neither_filled_nor_written(tmp_path):
    calls = []

    def counted(i):
        return tf.numpy_function(lambda value: (calls.append(value), value)[1], [i], tf.int64)

    in_memory = tf.data.Dataset.range(20).map(counted).cache().batch(5)
    in_file = tf.data.Dataset.range(20).map(cheap).cache(str(tmp_path / "cache")).batch(5)
    measured = tp.benchmark_input(in_memory, seconds=1)
    tp.benchmark_input(in_file, seconds=1)
    assert list(tmp_path.iterdir()) == []
    calls.clear()
    list(in_memory)
    assert len(calls) == 20
    table = measured.table.set_index("name")
    assert table["first_pass_only"].to_dict()["map(counted)"]
    assert not table["first_pass_only"].to_dict()["cache()"]
    assert measured.summary["bottleneck"] != "map(counted)"


def noisy(i):
    return tf.cast(i, tf.float32) + tf.random.uniform(())


def only_scalars(i):
    return tf.ensure_shape(i, ())


@pytest.mark.parametrize(
    ("make", "missing", "why"),
    [
        (lambda: tf.data.Dataset.range(99).map(noisy).batch(3), "cached", "`map(noisy)` is random"),
        (lambda: tf.data.Dataset.range(99).map(noisy).batch(3), "batch before map", "the map is random"),
        (lambda: tf.data.Dataset.range(99).shuffle(9).map(cheap).batch(3), "cached", "`shuffle(9)` gave"),
        (lambda: tf.data.Dataset.range(99).map(only_scalars).batch(3), "batch before map", "it fails with"),
        (lambda: tf.data.Dataset.range(99).map(tf.range).padded_batch(3), "batch before map", ""),
        (lambda: tf.data.Dataset.range(99).map(tf.stack).batch(3).map(tf.reduce_sum), "shuffle before map", ""),
        (lambda: tf.data.Dataset.range(1, 99).map(tf.math.reduce_max).batch(3), "batch before map", "it makes"),
    ],
)
def test_what_is_not_legal_is_left_out_with_the_reason(make, missing, why):
    measured = tp.benchmark_input(make(), seconds=0.3)
    assert missing not in measured.table["name"].tolist()
    assert why in " ".join(measured.notes)


def test_what_is_legal_makes_equal_elements():
    dataset = tf.data.Dataset.range(900).map(cheap).shuffle(100).batch(30)
    measured = tp.benchmark_input(dataset, seconds=0.5)
    what_ifs = measured.table[measured.table["kind"] == "what-if"].set_index("name")
    assert {"prefetch at the end", "parallel maps", "cached", "batch before map", "shuffle before map"} <= {
        *what_ifs.index
    }
    assert set(what_ifs["elements"]) == {"equal"}


def buckets():
    lengths = tf.data.Dataset.range(1, 400).shuffle(400).map(tf.range)
    return lengths.bucket_by_sequence_length(tf.size, [100, 200], [4, 4, 4]).prefetch(2)


def sampled():
    sets = [tf.data.Dataset.range(100).shuffle(10).repeat(), tf.data.Dataset.range(100, 200).cache()]
    return tf.data.Dataset.sample_from_datasets(sets, [0.5, 0.5], seed=1).enumerate().map(lambda _, x: x).batch(4)


def from_dicts():
    return tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3] * 20, "b": [1.0, 2.0, 3.0] * 20}).shuffle(9).batch(4)


def windows():
    return tf.data.Dataset.range(200).shuffle(20).window(4, shift=2).flat_map(lambda part: part.batch(4)).batch(2)


def batched_anew():
    data = tf.data.Dataset.range(200).shuffle(20).batch(8).unbatch().filter(lambda i: i % 2 == 0).skip(2)
    return data.shard(2, 0).take(40).batch(4)


@pytest.mark.parametrize("make", [buckets, sampled, from_dicts, windows, batched_anew])
def test_pipelines_of_many_kinds_are_copied_and_stay_as_they_were(make):
    tf.random.set_seed(3)
    expected = [[part.numpy().tolist() for part in tf.nest.flatten(batch)] for batch in make().take(9)]
    tf.random.set_seed(3)
    dataset = make()
    measured = tp.benchmark_input(dataset, seconds=0.2)
    assert measured.summary["batch_ms"] > 0
    assert [[part.numpy().tolist() for part in tf.nest.flatten(batch)] for batch in dataset.take(9)] == expected


def test_an_interrupt_keeps_what_was_measured(monkeypatch):
    runs = []

    def interrupted(make, plan):
        runs.append(plan)
        if len(runs) == 6:
            os.kill(os.getpid(), signal.SIGINT)
        return drawn_by_us(make, plan)

    drawn_by_us = measure.drawn
    monkeypatch.setattr(measure, "drawn", interrupted)
    dataset = tf.data.Dataset.range(100_000).map(in_python).batch(2)
    measured = tp.benchmark_input(dataset, seconds=20)
    assert len(runs) == 6
    assert any(note.startswith("Interrupted") for note in measured.notes)
    assert measured.summary["batch_ms"] > 0
    assert "in_python" in str(measured)


def failing(i):
    tf.debugging.assert_less(i, tf.constant(60, tf.int64), "no such picture")
    return i


def exhausted():
    numbers = iter(range(40))
    return tf.data.Dataset.from_generator(lambda: numbers, output_signature=tf.TensorSpec((), tf.int64)).batch(8)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda: tf.data.Dataset.range(0).batch(2), "The dataset is empty"),
        (lambda: tf.data.Dataset.range(10).map(lambda i: failing(i + 60)), "no such picture"),
        (lambda: iter([]), "The generator gives no batch"),
        (lambda: 7, "This is of type int: give what fit takes"),
    ],
)
@pytest.mark.filterwarnings("ignore:The batches that are measured")
def test_data_that_give_nothing_are_refused_with_the_reason(data, message):
    with pytest.raises(tp.TfprofError, match=message):
        tp.benchmark_input(data(), seconds=1)


@pytest.mark.parametrize("wrong", [{"batches": 0}, {"seconds": -1}, {"seconds": "long"}, {"profile": "p"}])
def test_wrong_arguments_are_named(wrong):
    (name,) = wrong
    with pytest.raises(tp.TfprofError, match=f"{name}="):
        tp.benchmark_input(tf.data.Dataset.range(9), **wrong)


def test_a_pipeline_that_fails_in_the_middle_keeps_what_came_before(clock):
    measured = tp.benchmark_input(tf.data.Dataset.range(10_000).map(failing).batch(10), seconds=0.5)
    assert measured.summary["batch_ms"] > 0
    assert "no such picture" in " ".join(measured.notes)
    assert "cached" not in set(measured.table["name"])
    assert "A cache is left out" in " ".join(measured.notes)


def test_an_endless_pipeline_ends():
    measured = tp.benchmark_input(tf.data.Dataset.range(9).repeat().map(cheap).batch(3), seconds=1, batches=50)
    assert measured.table["batches"].max() <= 4 * 50  # in each of four rounds
    assert np.isnan(measured.summary["batches_per_pass"]) or measured.summary["batches_per_pass"] == 3


def test_a_generators_function_is_named_before_it_is_called():
    with pytest.warns(UserWarning, match="slow_generator is called anew"):
        tp.benchmark_input(from_slow_generator().batch(2), seconds=0.5)


def test_a_generator_that_gives_its_elements_once_is_refused():
    with pytest.warns(UserWarning, match="is called anew"), pytest.raises(tp.TfprofError, match="used up"):
        tp.benchmark_input(exhausted(), seconds=1)


def test_a_generator_is_used_up_and_says_so_first():
    def numbers():
        for i in range(10_000):
            time.sleep(0.001)
            yield np.zeros(4) + i

    generator = numbers()
    with pytest.warns(UserWarning, match="gone afterwards"):
        measured = tp.benchmark_input(generator, seconds=0.5)
    assert measured.summary["batch_ms"] >= 1
    assert next(generator)[0] > 10
    assert "used up" in " ".join(measured.notes)


def test_a_py_dataset_gains_by_workers_and_the_code_gives_it_some(clock):
    import keras

    class Pictures(keras.utils.PyDataset):
        def __len__(self):
            return 500

        def __getitem__(self, index):
            if threading.current_thread().name == DRAWS:  # workers are beside it
                clock.sleep(0.02)
            return np.full((4, 2), index), np.zeros(4)

    pictures = Pictures()
    measured = tp.benchmark_input(pictures, seconds=SECONDS)
    assert measured.summary["bottleneck"] == "Pictures.__getitem__"
    assert measured.summary["best"].endswith("workers")
    exec(measured.code, {"pictures": pictures})
    assert pictures.workers > 1


def test_arrays_are_measured_as_fit_takes_them():
    measured = tp.benchmark_input((np.ones((400, 3)), np.ones(400)), seconds=1)
    assert measured.summary["batch_ms"] > 0
    assert "batches of 32" in " ".join(measured.notes)


@pytest.fixture(scope="module")
def profile():
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensor_slices((tf.ones((256, 4)), tf.ones((256, 1)))).batch(8)
    with tp.profile("steps") as captured:
        model.fit(data, epochs=2, verbose=0)
    return captured


def test_a_profile_says_what_the_step_needs(profile):
    dataset = tf.data.Dataset.range(4000).map(in_python).batch(2)
    measured = tp.benchmark_input(dataset, seconds=SECONDS, profile=profile)
    steps = profile.steps.measured
    assert measured.summary["step_ms"] == pytest.approx(float((steps["step_ms"] - steps["input_ms"]).median()))
    text = str(measured)
    assert "Your step needs a batch every" in text
    assert "your step, without its input" in text
    waiting = measured.table[measured.table["kind"] == "waiting"]
    assert waiting["name"].tolist() == ["as it is", "prefetch at the end"]


def test_it_shows_itself_as_text_and_html():
    measured = tp.benchmark_input(tf.data.Dataset.range(400).map(in_python).batch(2), seconds=1)
    content = measured._content()
    assert "What each stage adds to a batch" in text_view(content.title, content.panels)
    html = content.view().to_html()
    assert "map(in_python)" in html
    assert len(html) < 64 * 1024
