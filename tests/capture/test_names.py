"""What names of the profiled code stand for is recorded, without a value and without running code of the user's."""

import ast
import json
import time

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.capture.names import names
from tfprof_nb.decode.sections.cell import read_names
from tfprof_nb.decode.sidecar import check
from tfprof_nb.formats.sidecar import NamesSection

SECRET = "abracadabra"
model = keras.Sequential([keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD()
data = tf.data.Dataset.range(3)
array, frame, weights = np.ones((2, 3), "f4"), pd.DataFrame({"a": [1]}), tf.Variable(1.0)
tensor, several = tf.ones((4, 5)), [1, 2, 3]
generator = (number for number in range(3))


class Refusing:
    """Whoever runs its code gets an error."""

    def __init__(self):
        self.model = model

    def __len__(self):
        raise AssertionError

    __bool__ = __repr__ = __iter__ = __hash__ = __eq__ = __len__

    def __getattr__(self, name):
        raise AssertionError(name)

    @property
    def computed(self):
        raise AssertionError

    def train(self):
        return self.model, helper


def helper():
    return tensor


@tf.function
def traced(x):
    return x * weights


refusing = Refusing()


def program():
    return [
        SECRET,
        model,
        optimizer,
        data,
        array,
        frame,
        several,
        generator,
        refusing.computed,
        traced,
        np,
        keras.callbacks.Callback,
    ]


def section():
    with names("found = program()") as gather:
        pass
    return gather()


@pytest.fixture
def objects():
    found = section()
    check(found, NamesSection, "names")
    return read_names(json.loads(json.dumps(found)))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("model", "model"),
        ("optimizer", "optimizer"),
        ("data", "dataset"),
        ("array", "array"),
        ("frame", "frame"),
        ("weights", "variable"),
        ("tensor", "tensor"),
        ("several", "list"),
        ("generator", "generator"),
        ("refusing", "object"),
        ("refusing.model", "model"),
        ("traced", "tf function"),
        ("helper", "function"),
        ("np", "module"),
        ("tf", "module"),
        ("SECRET", "str"),
    ],
)
def test_kinds(objects, name, kind):
    assert objects.main == __file__
    assert objects.objects[__file__, name].kind == kind


def test_facts(objects):
    of = {name: one for (_, name), one in objects.objects.items()}
    assert (of["array"].shape, of["array"].dtype) == ((2, 3), "float32")
    assert (of["tensor"].shape, of["tensor"].dtype) == ((4, 5), "float32")
    assert (of["several"].length, of["generator"].length) == (3, -1)
    assert (of["np"].type, of["model"].type) == ("numpy", "keras.src.models.sequential.Sequential")
    assert of["helper"].file == __file__
    assert of["helper"].line == helper.__code__.co_firstlineno


def test_no_value_is_written(objects):
    assert SECRET not in repr(objects)


def test_self_stands_for_the_objects_of_its_class(objects):
    text = "class Refusing:\n  def train(self):\n    self.model.fit(x)\n    self.other.fit(x)"
    code = Code({__file__: text}, objects)
    owners = [call.func.value for call in code.nodes(__file__, ast.Call)]
    assert [getattr(code.object_of(__file__, owner), "kind", None) for owner in owners] == ["model", None]


def test_a_name_that_changes_is_not_certain():
    namespace = {"names": names, "changing": 1}
    text = "with names() as gather:\n    changing, new = 'text', 3\nfound = gather()"
    exec(compile(text, "/home/me/cell.py", "exec"), namespace)
    kinds = {name: one.kind for (_, name), one in read_names(namespace["found"]).objects.items()}
    assert (kinds["changing"], kinds["new"]) == ("changed", "int")


def test_large_values_take_no_longer(monkeypatch):
    def spent():
        begin = time.process_time()
        for _ in range(20):
            section()
        return time.process_time() - begin

    spent()  # the first pays for what is imported
    small = spent()
    monkeypatch.setitem(globals(), "several", list(range(10**6)))
    assert spent() < 8 * small  # a loop over the values takes a hundred times as long


def test_a_profile_has_them():
    with tp.profile() as p:
        model.predict(array, verbose=0)
    known = Code(p.data.texts, p.data.name_objects)
    assert known.global_object(__file__, "model").kind == "model"
