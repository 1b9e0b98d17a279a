"""Profiling a session of TensorFlow 1: the session itself, with a real one."""

import numpy as np
import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb import CaptureError

tf1 = tf.compat.v1


@pytest.fixture
def program():
    """A session, what it trains, and what to feed it."""
    with tf.Graph().as_default(), tf1.Session() as session:
        images = tf1.placeholder(tf.float32, [None, 16], name="images")
        weights = tf1.get_variable("weights", initializer=tf.fill([16, 4], 0.1))
        loss = tf.reduce_mean(tf.nn.relu(tf.matmul(images, weights, name="product")), name="loss")
        train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf1.global_variables_initializer())
        yield session, [train, loss], {images: np.ones((32, 16), np.float32)}


def products(profile):
    table = profile.ops.table
    return int(table.loc[table["op_name"] == "product", "occurrences"].sum())


@pytest.mark.parametrize(("warmup", "every", "runs", "recorded"), [(1, 1, None, 6), (0, 3, None, 3), (2, 2, 2, 2)])
def test_the_runs_asked_for_are_steps(program, tmp_path, warmup, every, runs, recorded):
    session, fetches, feed = program
    with tp.profile_session(session, "tf1", logdir=tmp_path, warmup=warmup, every=every, runs=runs) as profile:
        losses = [session.run(fetches, feed)[1] for _ in range(7)]
    assert losses == sorted(losses, reverse=True)  # it trained as ever
    assert losses[0] > losses[-1]
    assert profile.name == "tf1"
    steps = profile.steps.table
    assert products(profile) == len(steps) == recorded + (warmup > 0)
    if warmup:  # without one, the first run counts as such if it is slow
        assert steps["warm_up"].tolist() == [True] + [False] * recorded
        assert len(profile.steps.measured) == recorded
    said = {
        (1, 1): [],
        (0, 3): ["4 that every=3 skips"],
        (2, 2): ["1 of the warm-up, after", "2 that every=2", "1 beyond"],
    }
    assert all(any(part in note for note in profile.overview.notes) for part in said[warmup, every])
    assert any("left out" in note for note in profile.overview.notes) == (every > 1)
    assert profile.memory.summary
    assert tp.last() is profile


def test_its_folder_loads_as_the_same_profile(program, tmp_path):
    session, fetches, feed = program
    with tp.profile_session(session, logdir=tmp_path) as profile:
        for _ in range(4):
            session.run(fetches, feed)
    again = tp.load(tmp_path)
    assert len(again.files) == 4
    assert again.steps.table.equals(profile.steps.table)
    assert again.ops.table.equals(profile.ops.table)
    assert again.memory.allocators.equals(profile.memory.allocators)
    assert [run.name for run in tp.find_runs(tmp_path)] == [profile.files[0].parent.name]
    parameters = again.graph.scope(max_depth=10).table.set_index("name")["total_parameters"]
    assert parameters["weights"] == 16 * 4


def test_a_single_run_is_kept_though_it_is_the_warm_up(program, tmp_path):
    session, fetches, feed = program
    with tp.profile_session(session, logdir=tmp_path) as profile:
        session.run(fetches, feed)
    assert products(profile) == 1


def test_the_session_is_as_before(program, tmp_path):
    session, fetches, feed = program
    before = session.run
    with tp.profile_session(session, logdir=tmp_path):
        session.run(fetches, feed)
    assert session.run == before
    assert "run" not in vars(session)
    assert [path.name for path in tmp_path.iterdir()] == ["plugins"]


def test_options_of_the_users_own_hold(program, tmp_path):
    session, fetches, feed = program
    options, metadata = tf1.RunOptions(output_partition_graphs=True), tf1.RunMetadata()
    with tp.profile_session(session, logdir=tmp_path, warmup=0) as profile:
        session.run(fetches, feed, options, metadata)
    assert options == tf1.RunOptions(output_partition_graphs=True)
    assert len(metadata.partition_graphs) == 1
    assert products(profile) == 1


def test_a_run_that_fails_fails_as_ever_and_what_ran_before_is_kept(program, tmp_path):
    session, fetches, feed = program

    def program_that_fails(profile):
        with profile as p:
            profiles.append(p)
            session.run(fetches, feed)
            session.run(fetches, feed)
            session.run(fetches)

    profiles = []
    with pytest.raises(tf.errors.InvalidArgumentError, match="images"):
        program_that_fails(tp.profile_session(session, logdir=tmp_path))
    assert products(profiles[0]) == 2
    assert any("1 that failed" in note for note in profiles[0].overview.notes)
    assert "run" not in vars(session)


def test_eval_and_run_of_the_graph_are_recorded_too(program, tmp_path):
    session, fetches, feed = program
    with tp.profile_session(session, logdir=tmp_path, warmup=0) as profile:
        fetches[1].eval(feed, session)
    assert products(profile) == 1


def test_inside_another_capture_both_are_whole(program, tmp_path):
    session, fetches, feed = program
    with tp.profile(logdir=tmp_path / "outer") as outer, tp.profile_session(session, logdir=tmp_path) as inner:
        for _ in range(3):
            session.run(fetches, feed)
    assert products(inner) == 3
    assert len(inner.steps.table) == 3
    assert outer.ops.table["op_name"].eq("product").any()


def test_a_session_that_ran_nothing_says_so(program, tmp_path):
    session, *_ = program
    with pytest.raises(CaptureError, match="ran nothing"), tp.profile_session(session, logdir=tmp_path) as profile:
        pass
    with pytest.raises(CaptureError, match="ran nothing"):
        profile.steps  # noqa: B018
    assert "run" not in vars(session)


def test_one_at_a_time(program, tmp_path):
    session, fetches, feed = program
    with tp.profile_session(session, logdir=tmp_path) as profile:
        session.run(fetches, feed)
        with pytest.raises(CaptureError, match="already"), tp.profile_session(session, logdir=tmp_path):
            pass
    assert products(profile) == 1


@pytest.mark.parametrize("bad", [{"warmup": -1}, {"every": 0}, {"runs": 0}])
def test_numbers_that_make_no_sense_are_refused(program, bad):
    with pytest.raises(ValueError, match="must be at least"):
        tp.profile_session(program[0], **bad)
