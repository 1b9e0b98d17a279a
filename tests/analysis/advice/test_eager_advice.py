"""Which function is told to become a tf.function where ops run one by one."""

import re


def test_it_is_the_function_that_runs_the_ops_not_one_that_computes_in_python(advised, place_of, the_one):
    eager = the_one(advised("eager/beside_python"), "eager-ops")
    assert eager["place"] == place_of("eager/beside_python", "turn", "def turn")
    assert eager["change"] == "@tf.function\ndef turn(weights):"


def test_functions_that_each_run_much_of_the_ops_are_told_each_with_its_own_share(advised, place_of):
    table = advised("eager/two_functions")
    eager = table[table["rule"] == "eager-ops"]
    where = {place_of("eager/two_functions", name, f"def {name}(") for name in ("turn", "turn_back")}
    assert set(eager["place"]) == where
    assert 50 < eager["cell_percent"].sum() < 105


def test_a_function_that_makes_its_metrics_is_not_told_to_be_traced_as_a_whole(advised, the_one):
    eager = the_one(advised("eager/whole_epoch"), "eager-ops")
    assert "epoch" in eager["finding"]
    assert "into a function of its own" in eager["fix"]
    assert eager["change"] == ""


def test_without_steps_the_evidence_speaks_of_none(advised, the_one):
    assert "in each step" not in the_one(advised("eager/without_steps"), "eager-ops")["evidence"]


def test_a_model_that_a_line_calls_is_told_to_be_traced_beside_a_function_that_is(advised, place_of, the_one):
    eager = the_one(advised("eager/model_called"), "eager-line")
    assert eager["finding"].startswith("Ops run eagerly")
    assert eager["place"] == place_of("eager/model_called", "act", "argmax")
    assert eager["fix"].startswith("Call a traced form of it: `traced = tf.function(net)` before the loop")


def test_the_python_of_layers_that_a_line_calls_belongs_to_the_line(captured, place_of, the_one):
    profile = captured("eager/model_called")
    eager, calls = the_one(profile.advice.table, "eager-line"), profile.python.calls
    _, _, line = place_of("eager/model_called", "act", "argmax").rpartition(" ")
    at_line = calls["samples"][(calls["line"] == int(line)) & (calls["call"] == "Layer.__call__")].sum()
    assert eager["estimated_gain_percent"] >= 90 * at_line / calls["samples"].sum()
    assert eager["gain_high_percent"] > 0
    assert str(profile).splitlines()[2].startswith("Ops run eagerly")


def test_gradients_of_weights_that_nothing_updates_are_what_a_graph_saves(captured, place_of, the_one):
    profile = captured("eager/frozen_layers")
    eager, ops = the_one(profile.advice.table, "eager-ops"), profile.ops.table
    assert eager["place"] == place_of("eager/frozen_layers", "restyle", "def restyle")
    assert "nothing uses" in eager["evidence"]
    of_weights = ops.loc[ops["op_type"] == "Conv2DBackpropFilter", "self_us"].sum() / ops["self_us"].sum()
    assert eager["estimated_gain_percent"] > 100 * of_weights / 2


def test_a_loop_after_the_steps_is_told_by_what_it_calls(captured):
    """Layers that it calls have loops of their own: the loop around all is the one."""
    profile = captured("benchmark/sampled_sequences")
    row = profile.advice.table.iloc[profile.answer.finding]
    assert row["rule"] == "eager-outside-steps"
    assert row["change"] == "@tf.function\ndef next_note(played, temperature):"
    assert profile.data.texts["In[1]"].splitlines()[int(row["place"].split()[-1]) - 1].startswith("def next_note")
    assert row["cell_percent"] > 80
    diff = profile.answer.diffs[profile.answer.finding]
    assert diff.new == f"@tf.function\n{diff.old}"


def test_all_loops_of_a_cell_that_run_much_of_the_ops_are_named(advised, the_one):
    found = the_one(advised("eager_loops/two"), "eager-ops")
    lines = re.findall(r"cell line \d+", found["finding"])
    assert sorted(lines) == ["cell line 2", "cell line 6"]
    assert found["place"] == lines[0]
    assert "the body of each loop" in found["fix"]
