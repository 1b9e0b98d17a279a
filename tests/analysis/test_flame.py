"""Flame graphs: paths by hand, then a real program."""

import numpy as np
import pytest

import tfprof_nb as tp
from tfprof_nb.analysis.flame import _without_repetition, merge


def test_times_add_up_from_the_leaves():
    table = merge([("a", "x"), ("b",), ("a",), ("a", "y")], [3.0, 2.0, 1.0, 4.0], {("a",): "host"}, "all")
    rows = table[["name", "depth", "start_ms", "total_ms", "self_ms"]].values.tolist()
    assert rows == [
        ["all", 0, 0.0, 10.0, 0.0],
        ["a", 1, 0.0, 8.0, 1.0],
        ["y", 2, 0.0, 4.0, 4.0],
        ["x", 2, 4.0, 3.0, 3.0],
        ["b", 1, 8.0, 2.0, 2.0],
    ]
    assert table["total_share"].tolist() == [1.0, 0.8, 0.4, 0.3, 0.2]
    assert table["kind"].tolist() == ["", "host", "", "", ""]


def test_a_path_that_occurs_twice_is_one_box():
    assert merge([("a",), ("a",)], [1.0, 2.0], {}, "all")["total_ms"].tolist() == [3.0, 3.0]


def test_what_is_too_small_to_see_is_left_out_and_its_time_stays_above():
    table = merge([("a", "tiny"), ("a", "big")], [0.0005, 0.9995], {}, "all")
    assert table["name"].tolist() == ["all", "a", "big"]
    assert table["total_ms"].tolist() == [1.0, 1.0, 0.9995]


def test_very_deep_paths_end_where_nobody_reads_on():
    table = merge([tuple("x" * 20_000)], [1.0], {}, "all")
    assert len(table) == 65
    assert table["self_ms"].iloc[-1] == 1.0


def test_without_time_there_is_nothing():
    table = merge([("a",)], [0.0], {}, "all")
    assert table.empty
    assert table["total_ms"].dtype == np.float64


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    import tensorflow as tf

    def slow():
        return sum(k * k for k in range(200_000))

    @tf.function
    def step(x):
        with tf.name_scope("encoder"):
            return tf.linalg.matmul(x, x, name="product")

    x = tf.ones((64, 64))
    step(x)
    with tp.profile(logdir=tmp_path_factory.mktemp("logs")) as p:
        for k in range(8):
            with tp.step(k):
                step(x)
                slow()
        tf.reduce_sum(x)
    return p


def paths(table):
    found, path = [], []
    for name, depth in zip(table["name"], table["depth"], strict=True):
        path[depth:] = [name]
        found.append("/".join(path[1:]))
    return found


@pytest.mark.tensorflow
def test_ops_lie_in_their_name_scopes(profile):
    table = profile.flame.table.assign(path=paths(profile.flame.table)).set_index("path")
    assert table.loc["encoder/product", "op_name"].endswith("encoder/product")
    assert table.loc["encoder", "total_ms"] >= table.loc["encoder/product", "total_ms"] > 0
    assert any(path.startswith("eager ops/") for path in table.index)
    ops_ms = profile.ops.table["self_us"].sum() / 1000
    assert table["total_ms"].iloc[0] == pytest.approx(ops_ms, rel=1e-9)
    assert profile.flame.summary["ops_ms"] == pytest.approx(ops_ms, rel=1e-9)


def test_scopes_that_loops_and_gradients_repeat_stand_once_and_boxes_have_the_phases_of_their_ops(captured):
    found = captured("benchmark/healthy_lstm_text").flame
    table = found.table.assign(path=paths(found.table)).set_index("path")
    kinds = {"sequential_1/lstm_1/while": "forward", "gradient_tape/sequential_1": "backward", "adam": "optimizer"}
    assert {path: table.loc[path, "kind"] for path in kinds} == kinds
    assert "gradient_tape/sequential_1/lstm_1/while/lstm_cell_1" in table.index
    assert not any("body" in path.split("/") or path.count("while") > 1 for path in table.index)
    assert found.summary["ops_ms"] == table["total_ms"].iloc[0]


def test_an_op_that_is_called_like_its_scope_keeps_both():
    assert _without_repetition(["rnn", "rnn"]) == ("rnn", "rnn")
    assert _without_repetition(["rnn", "while", "body", "_7", "rnn", "while", "Mul"]) == ("rnn", "while", "Mul")
    assert _without_repetition(["body", "Mul"]) == ("body", "Mul")


@pytest.mark.tensorflow
def test_python_lies_in_the_calls_that_made_it(profile):
    names = profile.flame.python["name"]
    (slow,) = names.index[names.str.startswith("profile.<locals>.slow (")]
    around = profile.flame.python["name"].iloc[:slow]
    assert any(name.startswith("profile (") for name in around)
    assert profile.flame.python["total_ms"].iloc[0] == pytest.approx(profile.python.table["self_ms"].sum(), rel=1e-9)


@pytest.mark.tensorflow
def test_boxes_lie_inside_the_boxes_that_hold_them(profile):
    for table in (profile.flame.table, profile.flame.python):
        ends, path = table["start_ms"] + table["total_ms"], []
        for row, depth in enumerate(table["depth"]):
            path[depth:] = [row]
            if depth:
                outer = path[depth - 1]
                assert table["start_ms"][row] >= table["start_ms"][outer] - 1e-9
                assert ends[row] <= ends[outer] + 1e-9


@pytest.mark.tensorflow
def test_it_shows_itself(profile):
    text = str(profile.flame.view())
    assert "encoder" in text
    assert "Samples of Python's stacks" in text
    assert "aria-label=" in profile.flame.view().to_html() or "alt=" in profile.flame.view().to_html()


@pytest.mark.tensorflow
def test_a_profile_without_samples_says_so(tmp_path):
    with tp.profile(logdir=tmp_path, python=False) as p:
        pass
    assert "No op was recorded" in str(p.flame.view())
    assert "no samples of Python" in str(p.flame.view())
