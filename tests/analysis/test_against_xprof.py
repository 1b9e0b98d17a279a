"""Four programs captured here, read by us and by the installed XProf: where both have a number it is the same, to 1%.

Where we differ on purpose the test says why.
"""

import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb.analysis.tf_data.iterators import stage_of

STEPS = 12


def keras_fit():
    """Keras' own loop, whose steps we mark while we capture."""
    images, labels = tf.random.uniform((STEPS * 8, 64, 64, 3)), tf.zeros((STEPS * 8,), tf.int32)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).map(lambda x, y: (x * 2, y)).batch(8).prefetch(2)
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Conv2D(4, 3), layers.Flatten(), layers.Dense(10, "softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    return lambda: model.fit(data, verbose=0, shuffle=False)


def marked_loop():
    """A training loop of one's own."""
    weights = tf.Variable(tf.random.normal((512, 512)))
    data = tf.data.Dataset.from_tensor_slices(tf.random.normal((STEPS * 256, 512))).batch(256).prefetch(1)

    @tf.function
    def update(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((batch @ weights) ** 2)
        weights.assign_sub(0.01 * tape.gradient(loss, weights))

    def run():
        for i, batch in enumerate(data):
            with tp.step(i):
                update(batch)

    return run


def input_bound_loop():
    """A loop that waits for its data: an expensive map, without prefetching."""

    def expensive(x):
        for _ in range(4):
            x = tf.linalg.matmul(x, x) / 512
        return x

    data = tf.data.Dataset.from_tensors(tf.random.normal((512, 512))).repeat(STEPS).map(expensive)
    total = tf.function(tf.reduce_sum)

    def run():
        batches = iter(data)
        for i in range(STEPS):
            with tp.step(i):
                total(next(batches))

    return run


def eager_loop():
    """Ops that run one by one."""
    x = tf.random.normal((512, 512))

    def run():
        for i in range(STEPS):
            with tp.step(i):
                tf.reduce_sum(tf.nn.relu(tf.linalg.matmul(x, x)) + 1)

    return run


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """Return a function that profiles a program which ran once before, so that nothing is left to trace."""

    def capturing(program):
        run = program()
        run()
        with tp.profile(program.__name__, logdir=tmp_path_factory.mktemp(program.__name__)) as captured:
            run()
        return captured

    return capturing


@pytest.fixture(scope="module", params=[keras_fit, marked_loop, input_bound_loop, eager_loop], ids=lambda f: f.__name__)
def profile(request, capture):
    return capture(request.param)


def dispatched(table):
    """Ops of which TensorFlow recorded only the eager dispatch, which tells their type and no name."""
    return table["eager"] & (table["op_name"] == table["op_type"])


def test_steps_and_their_categories(profile):
    """XProf leaves out the first and the last of more than five steps."""
    theirs = profile.xprof("overview_page")["steps"]
    ours = profile.steps.table.iloc[1:-1]
    assert len(ours) == len(theirs) == STEPS - 2
    assert theirs["stepnum"].tolist() == ours["step_name"].tolist()
    for mine, other in [
        ("step_ms", "stepTimeMs"),
        ("input_ms", "infeedTimeMs"),
        ("host_compute_ms", "hostComputeTimeMs"),
        ("compile_ms", "compileTimeMs"),
        ("other_ms", "otherTimeMs"),
    ]:
        assert ours[mine].tolist() == pytest.approx(theirs[other].tolist(), rel=0.01, abs=1e-6), mine


def test_self_times_of_host_ops(profile):
    """XProf also lists ops of which only allocations were recorded, and counts those as occurrences.

    It leaves out eager ops of which only the dispatch was recorded: those stand here under their type.
    """
    theirs = profile.xprof("framework_op_stats")["without_idle"].set_index("operation")
    table = profile.ops.table
    ours = table[~dispatched(table)].set_index("op_name")
    assert len(ours) or profile.name == "eager_loop"
    assert not theirs.drop(index=ours.index)["total_self_time"].any()
    theirs = theirs.loc[ours.index]
    assert ours["op_type"].tolist() == theirs["type"].tolist()
    assert (ours["occurrences"] <= theirs["occurrences"]).all()
    for mine, other in [("self_us", "total_self_time"), ("total_us", "total_time")]:
        assert ours[mine].tolist() == pytest.approx(theirs[other].tolist(), rel=0.01, abs=1e-3), mine


def test_input_ops(profile):
    rows = profile.xprof("input_pipeline_analyzer")["ops"]
    # XProf has a row per iterator, so one for each repetition.
    by_stage = rows.groupby(rows["opName"].map(stage_of))
    theirs = by_stage[["count", "timeInMs", "selfTimeInMs"]].sum().join(by_stage["category"].first())
    ours = profile.input_pipeline.table.set_index("op_name").rename(index=stage_of)
    assert sorted(ours.index) == sorted(theirs.index)
    assert len(ours) or profile.name == "eager_loop"
    theirs = theirs.loc[ours.index]
    assert ours["category"].tolist() == theirs["category"].tolist()
    for mine, other in [("count", "count"), ("total_ms", "timeInMs"), ("self_ms", "selfTimeInMs")]:
        assert ours[mine].tolist() == pytest.approx(theirs[other].tolist(), rel=0.01), mine


def test_memory_peaks(profile):
    theirs = profile.xprof("memory_profile")["memoryProfilePerAllocator"]
    assert set(profile.memory.summary) == set(theirs)
    assert len(theirs) == 1  # the figures of the whole file, below, are one allocator's
    for allocator, ours in profile.memory.summary.items():
        summary = theirs[allocator]["profileSummary"]
        assert ours["peak_bytes"] == pytest.approx(int(summary["peakStats"]["peakBytesInUse"]), rel=0.01) != 0
        # Of the lifetime's peak XProf shows what the file's last event says (test_memory.py): here one allocator's.
        lifetime = profile.data.forests[0].host.ints("peak_bytes_in_use").values
        assert (ours["peak_bytes_lifetime"], int(summary["peakBytesUsageLifetime"])) == (lifetime.max(), lifetime[-1])


def test_eager_time_that_xprof_does_not_see(capture):
    """TensorFlow records no event of most eager ops on a CPU: XProf has no time for them, we have the dispatch's."""
    p = capture(eager_loop)
    assert p.xprof("framework_op_stats")["without_idle"]["total_time"].sum() == 0
    ours = p.ops.table.set_index("op_name")
    assert set(ours.index) >= {"MatMul", "Relu", "AddV2", "Sum"}
    for op in ("MatMul", "Sum"):
        events = p.events[p.events["name"] == f"EagerLocalExecute: {op}"]
        assert ours.loc[op, "occurrences"] == len(events) == STEPS
        assert ours.loc[op, "total_us"] == pytest.approx(events["duration_ps"].sum() / 1e6)


def fetching_outside_the_marks():
    """The loop that the TensorFlow Profiler guide warns of: the iterator's turn comes between the marks."""
    x = tf.random.normal((512, 512))
    data = tf.data.Dataset.from_tensors(x).repeat(STEPS).map(lambda x: tf.linalg.matmul(x, x) @ x @ x)
    total = tf.function(tf.reduce_sum)

    def run():
        for i, batch in enumerate(data):
            with tp.step(i):
                total(batch)

    return run


def test_data_fetched_outside_the_marks_is_reported(capture):
    p = capture(fetching_outside_the_marks)
    assert p.overview.summary["input_percent"] == 0  # no step waited, says XProf too
    assert p.xprof("overview_page")["steps"]["infeedTimeMs"].tolist() == [0] * (STEPS - 2)
    assert "Data is fetched outside the steps" in p.advice.table["finding"].tolist()


def looping():
    """Marked steps, each of which runs a loop inside TensorFlow."""

    @tf.function
    def update(x):
        while tf.reduce_sum(x) < 10.0:
            x += 1.0
        return x

    def run():
        for i in range(STEPS):
            with tp.step(i):
                update(tf.zeros((2,)))

    return run


def test_marks_win_over_loops(capture):
    """XProf groups by the loop's iterations instead, and then has no step at all."""
    p = capture(looping)
    assert len(p.xprof("overview_page")["steps"]) == 0
    assert p.steps.table["step_name"].tolist() == [f"train {i}" for i in range(STEPS)]
