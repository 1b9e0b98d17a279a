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


def test_an_argument_is_added_to_the_call_at_a_line():
    assert CODE.with_argument("cell", 18, "Photos", "workers=4") == "Photos(paths, workers=4), validation_data=load()"
    assert CODE.with_argument("cell", 17, "fit", "x=1") == (
        "model.fit(\n    Photos(paths), validation_data=load(), x=1\n)"
    )
    assert CODE.with_argument("cell", 18, "load", "x=1") == "Photos(paths), validation_data=load(x=1)"


def test_which_classes_take_any_keyword():
    assert CODE.takes_keywords("cell", "Photos")
    assert not CODE.takes_keywords("cell", "Plain")
    assert not CODE.takes_keywords("cell", "Unknown")


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


def test_calls_of_a_pipeline_are_changed_where_they_stand():
    code = Code({"cell": PIPELINES})
    assert code.argument("cell", 4, "map") == "lambda name: read(name, 'ü')"
    assert code.argument("cell", 12, "map") == "partial(f, 2)"
    assert code.argument("cell", 6, "map") == ""
    assert code.with_argument("cell", 4, "map", "n=1") == '.map(lambda name: read(name, "ü"), n=1)'
    assert code.with_argument("cell", 12, "map", "n=1") == (
        "return names.map(\n    partial(f, 2),\n    num_parallel_calls=(n),\nn=1).batch(8)"
    )
    assert code.with_argument("cell", 18, "map", "n=1") == ""  # there are two
    assert code.with_call("cell", 4, "map", ".cache()") == '.map(lambda name: read(name, "ü")).cache()'
    assert code.with_argument("cell", 17, "fit", "x=1").endswith("epochs=(3), x=1)")


def test_the_end_of_a_pipeline():
    code = Code({"cell": PIPELINES})
    assert code.end_of_pipeline("cell", 4) == (7, "cache")
    assert code.end_of_pipeline("cell", 12) == (15, "batch")
    assert code.end_of_pipeline("cell", 17) == (17, "batch")
    assert code.end_of_pipeline("cell", 9) == code.end_of_pipeline("nowhere", 1) == (0, "")


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
    assert code.without_argument("cell", 1, "jit") == (1, "m.compile(loss=f(1))")
    assert code.without_argument("cell", 2, "jit") == (2, "m.compile('sgd')")
    assert code.without_argument("cell", 3, "jit") == (3, "f()")
    assert code.without_argument("cell", 5, "jit") == (4, "f(\n  x=(2)\n)")
    assert code.without_argument("cell", 1, "metrics") == (0, "")


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
    told = [code.on_batch("cell", line, "predict") for line in range(2, 9)]
    assert told == [
        "best = np.amax(agent.net.predict_on_batch(s)[0], axis=1)",
        "y = net.predict_on_batch(x)",
        *[""] * 5,
    ]
    assert code.on_batch("cell", 9, "predict") == 'label = "ü" + name(net.predict_on_batch(x["ü"]))'


def test_newer_cells_come_first_and_an_earlier_run_of_the_cell_is_the_cell():
    cell = "%%tfprofile\nds = ds.batch(8)\nnet.fit(ds)\n"
    code = Code({"In[2]": "ds = ds.batch(4)", "In[10]": "ds = ds.batch(6)", "In[11]": cell[12:], "cell": cell})
    assert list(code.find(r"\.batch\(")) == [("cell", 2), ("In[10]", 1), ("In[2]", 1)]
    assert code.of_this_run("In[11] line 2, In[1] line 2, In[11] line 1") == "cell line 3, In[1] line 2, cell line 2"
