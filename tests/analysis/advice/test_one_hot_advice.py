"""Products with one-hot vectors are told with the lookups and sums that compute the same."""


def test_computed_rows_are_looked_up_and_added(advised, place_of, the_one):
    program = "one_hot/computed_rows"
    found = the_one(advised(program), "one-hot-matmul")
    assert found["finding"].startswith("One-hot vectors of 1,500 classes are multiplied by a matrix")
    assert found["place"] == place_of(program, "pass_on", "messages =")
    assert place_of(program, "pass_on", "return") in found["fix"]


def test_a_sparse_matrix_that_is_made_dense(advised, place_of, the_one):
    found = the_one(advised("one_hot/sparse_made_dense"), "sparse-made-dense")
    assert found["finding"].startswith("A sparse matrix of 20,000 columns")
    assert found["place"] == place_of("one_hot/sparse_made_dense", "encode", "tf.matmul")
