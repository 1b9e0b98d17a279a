"""Python functions that a step's graph calls are told from those of pipelines."""

IN_STEP = "graph_python/numpy_in_step"


def test_a_numpy_function_in_the_step_is_named_with_its_line(captured, place_of, the_one):
    p = captured(IN_STEP)
    found = the_one(p.advice.table, "python-in-graph")
    assert found["finding"].startswith("The graph calls weighted, in Python: ")
    assert found["place"] == place_of(IN_STEP, "with_numpy", "numpy_function")
    assert place_of(IN_STEP, "weighted", "time.sleep") in found["evidence"]
    assert "TensorFlow's ops" in found["fix"]
    rows = p.python.table[p.python.table["function"] == "weighted"]
    assert set(rows["thread"]) == {"graph"}


def test_a_function_of_tensorflows_ops_needs_no_python(advised, the_one):
    found = the_one(advised("graph_python/ops_in_step"), "python-in-graph")
    assert found["fix"].startswith("doubled needs no Python: call doubled itself, without tf.py_function.")


def test_functions_of_pipelines_are_those_of_tf_data(captured):
    p = captured("graph_python/numpy_in_pipeline")
    rows = p.python.table[p.python.table["function"] == "loaded"]
    assert set(rows["thread"]) == {"tf.data"}
    assert "python-in-graph" not in p.advice.table["rule"].tolist()
    first = p.advice.table.iloc[0]
    assert first["rule"] == "python-map"
    assert first["finding"].startswith("Steps wait for their data: loaded")


def test_of_both_each_has_its_own(advised, the_one):
    table = advised("graph_python/numpy_in_both")
    assert the_one(table, "python-in-graph")["finding"].startswith("The graph calls weighted")
