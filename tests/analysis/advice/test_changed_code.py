"""The code that advice on recorded programs gives computes what their code does."""

import numpy as np
import pytest
import tensorflow as tf

from programs import discarded_work, mapping, one_hot, pair, parts_of_steps


@pytest.fixture
def changed(advised, the_one):
    """Return a function of a program with the lines that a rule gives, and maybe a last one."""

    def of(module, program, rule, header, lines=lambda found: [found["change"]], last=()):
        found = the_one(advised(f"{module.__name__.rpartition('.')[2]}/{program}"), rule)
        scope = dict(vars(module))
        exec("\n    ".join([f"def changed({header}):", *lines(found), *last]), scope)
        return scope["changed"]

    return of


def test_the_first_of_a_sort(changed):
    first = changed(discarded_work, "sort_for_the_first", "sorted-for-few", "distances", last=["return order[:, :5]"])
    tf.debugging.assert_equal(first(discarded_work.LONG), discarded_work.nearest(discarded_work.LONG))


def test_a_map_of_all_elements_at_once(changed):
    areas = changed(mapping, "forward", "map-fn", "boxes")
    tf.debugging.assert_near(areas(mapping.BOXES), mapping.areas(mapping.BOXES))


def test_a_loss_of_all_examples_at_once(changed):
    loss = changed(parts_of_steps, "with_a_loss_of_its_own", "map-fn", "y_true, y_pred")
    random = np.random.default_rng(0)
    pair_ = random.random((5, 6), "float32"), random.random((5, 6), "float32")
    np.testing.assert_allclose(loss(*pair_), parts_of_steps.shape_loss(*pair_), rtol=1e-5)


def test_lookups_and_sums_in_place_of_one_hot_vectors(changed):
    def both(found):
        return [found["change"], next(text for text in found["fix"].split("`") if text.startswith("return"))]

    pass_on = changed(one_hot, "computed_rows", "one-hot-matmul", "features", both)
    tf.debugging.assert_near(pass_on(one_hot.FEATURES), one_hot.pass_on(one_hot.FEATURES), atol=1e-3)


def test_a_product_with_a_sparse_matrix(changed):
    encode = changed(one_hot, "sparse_made_dense", "sparse-made-dense", "words")
    tf.debugging.assert_near(encode(one_hot.WORDS), one_hot.encode(one_hot.WORDS), atol=1e-4)


def test_squared_distances_by_a_product(changed):
    distances = changed(pair, "squared", "pairwise-differences", "x")
    tf.debugging.assert_near(distances(pair.ROWS), pair.distances(pair.ROWS), atol=1e-2)
