"""Diffs show what was removed and added, with the part of a line that differs."""

import pytest

from tfprof_nb.render.diff import diff


def shown(old, new):
    return [f"{line.sign}{line.before}[{line.changed}]{line.behind}" for line in diff(old, new)]


def test_an_argument_that_was_added_is_the_part_that_differs():
    assert shown('m.compile("adam", "mse")', 'm.compile("adam", "mse", jit_compile=True)') == [
        '-m.compile("adam", "mse"[])',
        '+m.compile("adam", "mse"[, jit_compile=True])',
    ]


def test_lines_that_stay_have_no_sign_and_shared_indentation_goes():
    old = "    a = 1\n    b = 2\n    c = 3"
    new = "    a = 1\n    c = 3"
    assert shown(old, new) == [" a = 1[]", "-b = 2[]", " c = 3[]"]


def test_lines_that_were_only_added():
    assert shown("def f(x):", "@tf.function\ndef f(x):") == ["+@tf.function[]", " def f(x):[]"]


def test_a_repeated_end_is_not_counted_twice():
    assert shown("))", ")))") == ["-))[]", "+))[)]"]
    assert shown("aa", "aaa") == ["-[aa]", "+[aaa]"]


def test_names_are_marked_whole():
    assert shown("y = m.predict(x)", "y = m.predict_on_batch(x)") == [
        "-y = m.[predict](x)",
        "+y = m.[predict_on_batch](x)",
    ]
    assert shown("x = slow_map(f)", "x = fast_map(f)") == ["-x = [slow_map](f)", "+x = [fast_map](f)"]


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("x", ""), ("", ""), ("\tx", "    x"), ("x\n\ny", "x\n\nz")])
def test_both_texts_can_be_read_off(old, new):
    lines = diff(old, new)
    without_indent = [text.splitlines() for text in (old, new)]
    removed = [line.text for line in lines if line.sign in "- "]
    added = [line.text for line in lines if line.sign in "+ "]
    assert [[line.strip() for line in part] for part in (removed, added)] == [
        [line.strip() for line in part] for part in without_indent
    ]
