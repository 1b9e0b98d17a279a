"""What keeps a function from running as a graph."""

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.traceable import has_effects, untraceable


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
    found = [untraceable(code, "cell", line) for line in (2, 4, 6, 8, 3, 10, 12)]
    told = [one and one.code for one in found]
    assert told == ["np.mean", "x[0].numpy", "int()", None, None, "ops.argmax(x).item", "ops.convert_to_numpy"]
    assert {one.why for one in found if one} == {"values"}


def test_what_converts_tensors_has_no_effects_and_what_writes_has():
    code = Code({"cell": "def split(x):\n    return pieces(x).to_tensor()\ndef kept(x):\n    x.to_csv('x')"})
    assert [has_effects(code, "cell", line) for line in (1, 3)] == [False, True]


def test_what_a_function_calls_counts_unless_it_is_traced():
    text = """
class Base(Lower):
    def kept(self, x):
        self.seen = x
class Lower(Base):
    def step(self, x):
        return self.kept(x) + self.missing(x)
def fetch(x):
    return fetch(x.numpy())
@tf.function
def traced(x):
    return traced.count(x.numpy())
def outer(x):
    return traced(x)
def calls(x):
    return fetch(x)
"""
    code = Code({"cell": text})
    step, calls, outer = (code.definition("cell", name) for name in ("step", "calls", "outer"))
    assert has_effects(code, "cell", step)
    assert untraceable(code, "cell", calls) == ("x.numpy", "values")
    assert untraceable(code, "cell", outer) is None
