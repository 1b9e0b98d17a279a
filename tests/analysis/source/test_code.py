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
!ls
"""
CODE = Code({"cell": CELL, "other.py": "def step():\n    pass\nprint(step)", "broken.py": "def (:"})


def test_lines_and_definitions():
    assert CODE.line("cell", 14) == "x, y = store.fetch(8)"
    assert CODE.line("cell", 99) == CODE.line("nowhere", 1) == ""
    assert CODE.definition("cell", "step") == 10
    assert CODE.definition("cell", "Photos.__init__") == 0  # there are two
    assert list(CODE.find(r"def step\(")) == [("cell", 10), ("other.py", 1)]


def test_which_classes_take_any_keyword():
    assert CODE.takes_keywords("cell", "Photos")
    assert not CODE.takes_keywords("cell", "Plain")
    assert not CODE.takes_keywords("cell", "Unknown")


def test_newer_cells_come_first_and_an_earlier_run_of_the_cell_is_the_cell():
    cell = "%%tfprofile\nds = ds.batch(8)\nnet.fit(ds)\n"
    code = Code({"In[2]": "ds = ds.batch(4)", "In[10]": "ds = ds.batch(6)", "In[11]": cell[12:], "cell": cell})
    assert list(code.find(r"\.batch\(")) == [("cell", 2), ("In[10]", 1), ("In[2]", 1)]
    assert code.of_this_run("In[11] line 2, In[1] line 2, In[11] line 1") == "cell line 3, In[1] line 2, cell line 2"
