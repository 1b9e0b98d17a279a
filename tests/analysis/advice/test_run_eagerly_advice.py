"""What to do about run_eagerly=True: to remove it breaks a model whose step needs values."""


def test_a_step_that_needs_values_must_change_before_it_can_run_as_a_graph(advised, place_of, the_one):
    program = "run_eagerly/step_needs_values"
    found = the_one(advised(program), "eager-ops")
    assert found["finding"].startswith("Ops run eagerly: run_eagerly")
    where = f"Mixed.train_step ({place_of(program, 'Mixed', 'def train_step')})"
    assert found["fix"].startswith(f"Compute with TensorFlow's ops in {where}: `np.arange` needs values")
    assert "Then remove run_eagerly=True." in found["fix"]
    assert not found["change"]


def test_a_callback_that_needs_values_does_not_keep_the_model_from_being_a_graph(advised, the_one):
    found = the_one(advised("run_eagerly/callback_needs_values"), "eager-ops")
    assert found["fix"].startswith("Remove run_eagerly=True: it is for debugging.")
    assert "run_eagerly" not in found["change"]
