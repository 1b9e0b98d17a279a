"""A session whose graph grows in the loop is told with the line that adds ops; one that only runs is not."""


def test_the_line_that_adds_ops(advised, place_of, the_one):
    table = advised("session/growing_graph")
    found = the_one(table, "growing-graph")
    assert found["finding"].startswith("The session's graph grows in each pass of the loop")
    assert found["place"] == place_of("session/growing_graph", "growing", "tf1.sqrt")
    assert "`op = tf1.sqrt(loss)`" in found["fix"]
    assert "`session.graph.finalize()`" in found["fix"]
    assert "large-feeds" not in table["rule"].tolist()


def test_a_session_that_only_runs(advised):
    assert "growing-graph" not in advised("session/graph_that_runs")["rule"].tolist()


def test_runs_that_are_fed_the_same_are_one(advised, place_of, the_one):
    program = "session/runs_fed_the_same"
    found = the_one(advised(program), "repeated-session-runs")
    assert found["finding"].startswith("2 runs of a session are fed the same")
    assert found["place"] == place_of(program, "apart", "session.run(train")
    assert found["change"] == "_, value = session.run([train, loss], feed)"
    assert place_of(program, "apart", "session.run(loss") in found["evidence"]
    assert "large-feeds" not in advised(program)["rule"].tolist()  # 64 KB each


def test_runs_that_are_fed_other_values_are_not(advised):
    assert "repeated-session-runs" not in advised("session/growing_graph")["rule"].tolist()
