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
    assert CODE.use("cell", 16) == ""  # its value is not read, but metric may change what it is given
    assert CODE.use("cell", 18) == "validation"
    assert CODE.use("other.py", 3) == CODE.use("broken.py", 1) == CODE.use("nowhere", 1) == ""


def test_which_classes_take_any_keyword():
    assert CODE.takes_keywords("cell", "Photos")
    assert not CODE.takes_keywords("cell", "Plain")
    assert not CODE.takes_keywords("cell", "Unknown")


LOOP = """
for epoch in range(3):
    for x, y in data:
        total = total + score(y)
        seen += count(y)
        update(matrix, y)
        losses.append(loss(x))
        kept.append(loss(x))
        history.append(trainer.step(x))
        last = loss(x)
        print(mean(losses[-10:]))
        writer.scalar("loss", loss(x))
        while last > 2:
            pass
result = loss(x)
"""


def test_a_loop_needs_what_it_reads_again():
    code = Code({"cell": LOOP})
    uses = {code.line("cell", line): code.use("cell", line) for line in range(4, 17)}
    assert [line for line, use in uses.items() if use == "record"] == [
        "kept.append(loss(x))",
        "print(mean(losses[-10:]))",
        'writer.scalar("loss", loss(x))',
    ]
    assert set(uses.values()) == {"record", ""}


def test_the_condition_that_a_line_runs_under():
    text = """
if step % 2 == 0:
    for i in n:
        if i % 100 == 0 and i:
            if verbose:
                save()
        if i % 7:
            load()
    stop()
if ready: go()
"""
    code = Code({"cell": text})
    assert code.guard("cell", 6) == (4, "if i % 100 == 0 and i:")
    assert code.guard("cell", 8) == (7, "if i % 7:")
    assert code.guard("cell", 9) == (2, "if step % 2 == 0:")
    assert code.guard("cell", 10) == code.guard("cell", 2) == code.guard("nowhere", 1) == (0, "")


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
"""
    code = Code({"cell": text})
    told = [code.uses_values("cell", line) for line in (2, 4, 6, 8, 3)]
    assert told == ["np.mean", "x[0].numpy", "int()", "", ""]


def test_newer_cells_come_first_and_an_earlier_run_of_the_cell_is_the_cell():
    cell = "%%tfprofile\nds = ds.batch(8)\nnet.fit(ds)\n"
    code = Code({"In[2]": "ds = ds.batch(4)", "In[10]": "ds = ds.batch(6)", "In[11]": cell[12:], "cell": cell})
    assert list(code.find(r"\.batch\(")) == [("cell", 2), ("In[10]", 1), ("In[2]", 1)]
    assert code.of_this_run("In[11] line 2, In[1] line 2, In[11] line 1") == "cell line 3, In[1] line 2, cell line 2"
