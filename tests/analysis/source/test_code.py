"""What the text of a program tells."""

from tfprof_nb.analysis.source.code import Code

CELL = """%%tfprofile
class Photos(PyDataset):
    def __init__(self, paths, **kwargs):
        super().__init__(**kwargs)

class Plain(PyDataset):
    def __init__(self, paths):
        super().__init__()

def step(x):
    return x

for epoch in range(3):
    x, y = store.fetch(8)
    step(x)
    score = metric(y)
    model.fit(
        Photos(paths), validation_data=load()
    )
!ls
"""
CODE = Code({"cell": CELL, "other.py": "def step():\n    pass\nprint(step)", "broken.py": "def (:"})


def test_lines_and_definitions():
    assert CODE.line("cell", 14) == "x, y = store.fetch(8)"
    assert CODE.line("cell", 99) == CODE.line("nowhere", 1) == ""
    assert CODE.definition("cell", "step") == 10
    assert CODE.definition("cell", "Photos.__init__") == 0  # there are two
    assert list(CODE.find(r"def step\(")) == [("cell", 10), ("other.py", 1)]


def test_what_a_value_is_for():
    assert CODE.use("cell", 14) == "batch"
    assert CODE.use("cell", 16) == "record"
    assert CODE.use("cell", 18) == "validation"
    assert CODE.use("other.py", 3) == CODE.use("broken.py", 1) == CODE.use("nowhere", 1) == ""


def test_an_argument_is_added_where_the_call_is_plain():
    assert CODE.with_argument("cell", 18, "Photos", "workers=4") == ("Photos(paths, workers=4), validation_data=load()")
    assert CODE.with_argument("cell", 17, "fit", "x=1") == ""  # over several lines
    assert CODE.with_argument("cell", 18, "load", "x=1") == "Photos(paths), validation_data=load(x=1)"


def test_which_classes_take_any_keyword():
    assert CODE.takes_keywords("cell", "Photos")
    assert not CODE.takes_keywords("cell", "Plain")
    assert not CODE.takes_keywords("cell", "Unknown")
