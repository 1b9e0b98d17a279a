"""Steps of programs that run a session of TensorFlow 1."""

import tensorflow as tf

import tfprof_nb as tp


def test_runs_are_told_to_be_what_counts_as_a_step(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        product = tf.random.normal((200, 200)) @ tf.random.normal((200, 200))
        session.run(product)
        with tp.profile(logdir=tmp_path) as p:
            for _ in range(10):
                session.run(product)
    (note,) = (note for note in p.steps.notes if note.startswith("Steps are inferred"))
    assert "each run of a session counts as a step" in note
    assert "tf.function" not in note
