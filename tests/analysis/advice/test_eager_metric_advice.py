"""What to do about run_eagerly=True where a metric needs values: without it, the program fails."""

PROGRAM = "eager_metric/fit_with_metric"


def test_a_metric_that_needs_values_must_change_before_the_model_can_run_as_a_graph(advised, place_of, the_one):
    found = the_one(advised(PROGRAM), "eager-ops")
    assert found["finding"].startswith("Ops run eagerly: run_eagerly")
    where = f"hits ({place_of(PROGRAM, 'hits', 'def hits')})"
    assert found["fix"].startswith(f"Compute with TensorFlow's ops in {where}: `y_true.numpy` needs values")
    assert not found["change"]
