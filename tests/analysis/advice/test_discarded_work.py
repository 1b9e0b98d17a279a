"""What a step computes for nothing: values that tf.where throws away, whole sorts, Jacobians of a batch, checks."""


def test_a_value_that_is_mostly_thrown_away(advised, place_of, the_one):
    found = the_one(advised("discarded_work/value_thrown_away"), "discarded-branch")
    assert found["finding"].startswith("tf.where computes both of its values")
    assert found["place"] == place_of("discarded_work/value_thrown_away", "scored_at_times", "return tf.where")
    assert found["change"] == "return tf.cond(COUNT % 10 == 0, lambda: score(x), lambda: 0.0)"
    assert "`score(x)`" in found["evidence"]


def test_a_choice_for_each_number_needs_both(advised):
    assert "discarded-branch" not in advised("discarded_work/choice_per_number")["rule"].tolist()


def test_a_sort_for_the_first(advised, place_of, the_one):
    found = the_one(advised("discarded_work/sort_for_the_first"), "sorted-for-few")
    assert found["finding"].startswith("Rows of 50,000 numbers are sorted")
    assert found["place"] == place_of("discarded_work/sort_for_the_first", "nearest", "order =")


def test_a_sort_that_is_used_as_a_whole(advised):
    assert "sorted-for-few" not in advised("discarded_work/sort_of_all")["rule"].tolist()


def test_a_jacobian_of_which_only_the_diagonal_is_not_zero(advised, place_of, the_one):
    found = the_one(advised("discarded_work/diagonal_jacobian"), "batch-jacobian")
    assert found["finding"].startswith("The Jacobian of 200 examples by 200 examples")
    assert found["place"] == place_of("discarded_work/diagonal_jacobian", "slopes", "inner.jacobian")
    assert "`inner.gradient(y, x)`" in found["fix"]


def test_a_jacobian_by_weights_is_needed_as_a_whole(advised):
    assert "batch-jacobian" not in advised("discarded_work/jacobian_by_weights")["rule"].tolist()


def test_checks_that_were_left_on(advised, the_one):
    found = the_one(advised("numerics_checks/left_on"), "numeric-checks")
    assert found["finding"].startswith("Each op's result is checked for NaN")
    assert found["change"] == "tf.debugging.disable_check_numerics()"
    assert found["gain_low_percent"] < found["gain_high_percent"]
