"""What keeps a function from running as a graph."""

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.traceable import has_effects, uses_values


def test_code_that_needs_values_cannot_be_traced():
    text = """
def mean(x):
    return np.mean(x)
def fetch(x):
    return x[0].numpy()
def whole(x):
    return int(x)
def plain(x):
    return tf.reduce_mean(net.float(x)) + tf.cast(x, tf.float32)
def drawn(x):
    return words[ops.argmax(x).item(0)]
def kept(x):
    return ops.convert_to_numpy(x)
"""
    code = Code({"cell": text})
    told = [uses_values(code, "cell", line) for line in (2, 4, 6, 8, 3, 10, 12)]
    assert told == ["np.mean", "x[0].numpy", "int()", "", "", "ops.argmax(x).item", "ops.convert_to_numpy"]


def test_what_converts_tensors_has_no_effects_and_what_writes_has():
    code = Code({"cell": "def split(x):\n    return pieces(x).to_tensor()\ndef kept(x):\n    x.to_csv('x')"})
    assert [has_effects(code, "cell", line) for line in (1, 3)] == [False, True]
