"""Which tensors a loop makes anew of the same values."""

import ast

import pytest

from tfprof_nb.analysis.advice.rules.python.same_tensor_each_step import same_each_time

MADE = "x = tf.constant(table, tf.float32)"


@pytest.mark.parametrize(
    ("text", "line", "made"),
    [
        (f"for i in range(9):\n    {MADE}", 2, "tf.constant(table, tf.float32)"),
        ("def f():\n    return tf.convert_to_tensor(table)", 2, "tf.convert_to_tensor(table)"),
        ("while True:\n    x = tf.cast(tf.constant(table), tf.int32)", 2, "tf.cast(tf.constant(table), tf.int32)"),
        ("for i in n:\n    x = tf.constant(table.astype('float32'))", 2, "tf.constant(table.astype('float32'))"),
    ],
)
def test_a_tensor_of_what_does_not_change_is_the_same(text, line, made):
    assert same_each_time(ast.parse(text), line) == made


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (MADE, 1),  # runs once
        ("for i in n:\n    x = tf.constant(table[i])", 2),
        ("for table in tables:\n    " + MADE, 2),
        ("def f(table):\n    " + MADE, 2),
        ("for i in n:\n    table[i] = 0\n    " + MADE, 3),
        ("for i in n:\n    rng.shuffle(table)\n    " + MADE, 3),
        ("for i in n:\n    table.sort()\n    " + MADE, 3),
        ("for i in n:\n    x = tf.constant(load())", 2),
        ("for i in n:\n    x = tf.constant(load(table))", 2),
        ("for i in n:\n    x = tf.constant(0.5)", 2),
        ("for t in ts:\n    table = t\n    f()\ndef f():\n    " + MADE, 5),
    ],
)
def test_a_tensor_of_what_may_change_is_not(text, line):
    assert same_each_time(ast.parse(text), line) == ""
