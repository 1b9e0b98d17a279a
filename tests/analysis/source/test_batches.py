"""Which functions of an element give the same for a batch."""

import ast

import pytest

from tfprof_nb.analysis.source.mapped import takes_batches

ROWS = """def parse(line):
    "Read a row."
    *features, y = tf.io.decode_csv(line, DEFAULTS)
    x = tf.stack(features, axis=-1)
    return tf.clip_by_value((x - 0.1) / 1.1, -5.0, 5.0), y"""


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        "lambda image, label: (tf.cast(image, tf.float32) / 255.0, tf.one_hot(label, 10))",
        "lambda image, label: (tf.image.resize(image, (64, 64)), label)",
        "lambda text, label: (vectorize(text), label)",
        "lambda row: {'x': tf.math.log1p(row['x']), 'y': row['y']}",
        "lambda x: tf.reduce_mean(x, axis=-1)",
        "lambda x: x[..., :3]",
    ],
)
def test_what_works_on_values_or_the_last_axis_takes_batches(text):
    assert takes_batches(_function(text), {"vectorize"})


@pytest.mark.parametrize(
    "text",
    [
        "lambda x, y: (x[:6], y)",  # the first six rows of a batch
        "lambda x: tf.reduce_mean(x)",
        "lambda x: tf.concat([x, x], 0)",
        "lambda x: x @ weights",
        "lambda x, y: (x * y, y)",  # of shapes that differ
        "lambda image: tf.io.decode_jpeg(image)",
        "lambda image: tf.image.random_brightness(image, 0.1)",  # one random value for all
        "lambda x: helper(x)",
        "lambda x: x.shape[0] + x",
        "def f(x):\n    for _ in range(3):\n        x = tf.abs(x)\n    return x",
    ],
)
def test_what_may_mix_rows_does_not(text):
    assert not takes_batches(_function(text), {"vectorize"})


def _function(text):
    statement = ast.parse(text).body[0]
    return statement.value if isinstance(statement, ast.Expr) else statement
