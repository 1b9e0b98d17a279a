"""Code that advice gives: changed calls, as they stand in the program."""

import pytest

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.rewriting import (
    end_of_pipeline,
    on_batch,
    with_argument,
    with_call,
    with_number,
    without_argument,
)

PIPELINES = """
files = (
    tf.data.Dataset.list_files(names)
    .map(lambda name: read(name, "ü"))
    .batch(8)
)
files = files.cache()
for x in files.take(2):
    pass

def make(names):
    return names.map(
        partial(f, 2),
        num_parallel_calls=(n),
    ).batch(8)

model.fit(make(names).map(f).batch(8), epochs=(3))
model.fit(names.map(lambda x: parts.map(x)), epochs=2)
"""


def test_an_argument_is_added_to_the_call_at_a_line():
    code = Code({"cell": "model.fit(\n    Photos(paths), validation_data=load()\n)"})
    assert with_argument(code, "cell", 2, "Photos", "workers=4") == "Photos(paths, workers=4), validation_data=load()"
    assert with_argument(code, "cell", 1, "fit", "x=1") == (
        "model.fit(\n    Photos(paths), validation_data=load(), x=1\n)"
    )
    assert with_argument(code, "cell", 2, "load", "x=1") == "Photos(paths), validation_data=load(x=1)"


def test_calls_of_a_pipeline_are_changed_where_they_stand():
    code = Code({"cell": PIPELINES})
    assert code.argument("cell", 4, "map") == "lambda name: read(name, 'ü')"
    assert code.argument("cell", 12, "map") == "partial(f, 2)"
    assert code.argument("cell", 6, "map") == ""
    assert with_argument(code, "cell", 4, "map", "n=1") == '.map(lambda name: read(name, "ü"), n=1)'
    assert with_argument(code, "cell", 12, "map", "n=1") == (
        "return names.map(\n    partial(f, 2),\n    num_parallel_calls=(n),\nn=1).batch(8)"
    )
    assert with_argument(code, "cell", 18, "map", "n=1") == ""  # there are two
    assert with_call(code, "cell", 4, "map", ".cache()") == '.map(lambda name: read(name, "ü")).cache()'
    assert with_argument(code, "cell", 17, "fit", "x=1").endswith("epochs=(3), x=1)")


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("data = Images(paths, workers = 2)", "data = Images(paths, workers = 8)"),
        ("data = Images(paths, workers=count)", ""),
        ("data = Images(paths)", ""),
        ("data = Images(Paths(workers=1), workers=2)", ""),
    ],
)
def test_a_number_is_changed_where_there_is_one(line, changed):
    assert with_number(Code({"cell": line}), "cell", 1, "workers", 8) == changed


def test_the_end_of_a_pipeline():
    code = Code({"cell": PIPELINES})
    assert end_of_pipeline(code, "cell", 4) == (7, "cache")
    assert end_of_pipeline(code, "cell", 12) == (15, "batch")
    assert end_of_pipeline(code, "cell", 17) == (17, "batch")
    assert end_of_pipeline(code, "cell", 9) == end_of_pipeline(code, "nowhere", 1) == (0, "")


def test_an_argument_is_left_out():
    lines = [
        "m.compile(jit=True, loss=f(1))",
        "m.compile('sgd', jit=True)",
        "f(jit=True)",
        "f(",
        "  jit=True,",
        "  x=(2)",
        ")",
    ]
    code = Code({"cell": "\n".join(lines)})
    assert without_argument(code, "cell", 1, "jit") == (1, "m.compile(loss=f(1))")
    assert without_argument(code, "cell", 2, "jit") == (2, "m.compile('sgd')")
    assert without_argument(code, "cell", 3, "jit") == (3, "f()")
    assert without_argument(code, "cell", 5, "jit") == (4, "f(\n  x=(2)\n)")
    assert without_argument(code, "cell", 1, "metrics") == (0, "")


def test_a_model_predicts_a_batch():
    text = """
best = np.amax(agent.net.predict(s, verbose=0)[0], axis=1)
y = net.predict(x)
y = net.predict(x, callbacks=c)
y = net.predict(x, y)
y = net.predict(
    x)
a, b = net.predict(x), net.predict(y)
label = "ü" + name(net.predict(x["ü"], batch_size=1))
"""
    code = Code({"cell": text})
    told = [on_batch(code, "cell", line, "predict") for line in range(2, 9)]
    assert told == [
        "best = np.amax(agent.net.predict_on_batch(s)[0], axis=1)",
        "y = net.predict_on_batch(x)",
        "",
        "",
        "y = net.predict_on_batch(x)",
        "",
        "a, b = net.predict_on_batch(x), net.predict_on_batch(y)",
    ]
    assert on_batch(code, "cell", 9, "predict") == 'label = "ü" + name(net.predict_on_batch(x["ü"]))'
