"""Code with a product gives the same distances as code with differences, in the styles in which people write it."""

import pytest
import tensorflow as tf

from tfprof_nb.analysis.advice.rules.graph.pairwise_differences import _matrix_form as matrix_form
from tfprof_nb.analysis.source.code import Code

X, Y = tf.random.normal((5, 3), seed=1), tf.random.normal((4, 3), seed=2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("d = tf.reduce_sum((x[:, None] - y[None]) ** 2, axis=-1)", 1),
        ("d = 2 + tf.reduce_sum(tf.square(x[:, tf.newaxis, :] - y[tf.newaxis, :, :]), 2)", 1),
        ("d = tf.reduce_sum(tf.math.squared_difference(tf.expand_dims(x, 1), tf.expand_dims(y, 0)), axis=2)", 1),
        ("diff = y[None, :, :] - x[:, None, :]\nsq = diff * diff\nd = tf.sqrt(tf.reduce_sum(sq, axis=-1))", 1),
        ("rows = tf.expand_dims(x, axis=1)\nd = tf.norm(rows - y[None], axis=-1)", 2),
        ("d = tf.reduce_sum(tf.pow(tf.subtract(x[:, None], y[None, :]), 2), -1)", 1),
    ],
)
def test_the_changed_code_computes_the_same(text, line):
    form = matrix_form(Code({"cell": text}), "cell", line)
    lines = text.splitlines()
    lines[form.line - 1] = form.change
    before, after = ({"tf": tf, "x": X, "y": Y} for _ in range(2))
    exec(text, before)
    exec("\n".join(one for number, one in enumerate(lines, 1) if number not in form.needless), after)
    tf.debugging.assert_near(before["d"], after["d"], atol=1e-4)


@pytest.mark.parametrize(
    "text",
    [
        "d = tf.reduce_sum(tf.abs(x[:, None] - y[None]), axis=-1)",
        "d = tf.reduce_sum((x[:, None] - y[None]) ** 2, axis=1)",
        "d = tf.reduce_sum((x[:, None] - y[None]) ** 3, axis=-1)",
        "d = tf.reduce_sum((x[:, None] - y[None]) ** 2, axis=-1, keepdims=True)",
        "d = tf.reduce_sum((f(x)[:, None] - y[None]) ** 2, axis=-1)",
        "diff = x[:, None] - y[None]\nd = tf.reduce_sum(diff ** 2, axis=-1)\nprint(diff)",
        "d = tf.norm(x[:, None] - y[None], 1, -1)",
        "not Python",
    ],
)
def test_code_without_such_a_form(text):
    assert matrix_form(Code({"cell": text}), "cell", 1) is None
