"""Which expressions of a cell may be the dataset that it trains on."""

import pytest

from tfprof_nb.analysis.source.taken_from import dataset_expressions, root_of


@pytest.mark.parametrize(
    ("cell", "fitted"),
    [
        ("%%tfprofile p\nmodel.fit(dataset, epochs=2)", ["dataset"]),
        ("history = model.fit(x=train.shuffle(10).batch(8), validation_data=val)", ["train.shuffle(10).batch(8)"]),
        ("with tp.profile() as p:\n    if True:\n        model.evaluate(splits['test'])", ["splits['test']"]),
        ("model.fit(x, y, batch_size=8)", []),
        ("model.fit(x=x, y=y)", []),
        ("model.fit(make_dataset())", []),
        ("def train(data):\n    model.fit(data)\n\ntrain(dataset)", []),
        ("model.fit(", []),
        ("model.fit()", []),
    ],
)
def test_what_fit_takes(cell, fitted):
    assert dataset_expressions(cell)[0] == fitted


@pytest.mark.parametrize(
    ("cell", "first"),
    [
        ("for epoch in range(3):\n    for step, batch in enumerate(dataset):\n        train(batch)", ["dataset"]),
        ("for epoch in epochs:\n    for batch in data.take(5):\n        train(batch)", ["data.take(5)", "epochs"]),
        ("batches = iter(data)\nfor i in range(9): step(next(batches))", ["data"]),
        ("losses = [step(batch) for batch in tqdm(data)]", ["data"]),
        ("def inner():\n    return hidden\n\ntrain(dataset)", ["dataset", "train"]),
    ],
)
def test_loops_and_other_names_follow(cell, first):
    assert dataset_expressions(cell)[1][: len(first)] == first
    assert "hidden" not in dataset_expressions(cell)[1]


def test_code_that_is_too_deep_has_none():
    assert dataset_expressions("x" + ".a()" * 900) in (([], []), ([], ["x"]))


def test_methods_are_called_on_a_root():
    assert root_of("data.map(f).batch(n)") == "data"
    assert root_of("loaders.train.prefetch(1)") == "loaders.train"
