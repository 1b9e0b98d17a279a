"""Cells in a real kernel with a slow line planted: the profile names the line, and a layer where there is one."""

import nbformat
import pytest
from nbclient import NotebookClient

import tfprof_nb as tp
from tfprof_nb.views.dashboard import panels

pytestmark = [pytest.mark.tensorflow, pytest.mark.kernel]

SETUP = """\
%load_ext tfprof_nb
import time, keras, numpy as np, tensorflow as tf, tfprof_nb as tp
int(tf.reduce_sum(tf.ones((2,))))
before = set(dir(__import__("builtins")))
"""

CELLS = {
    "sleep": """\
%%tfprofile sleep --quiet --out sleep
total = 0
taken = []
for i in range(5):
    total += int(tf.reduce_sum(tf.ones((i + 1,))))
    begin = time.perf_counter()
    time.sleep(0.1)
    taken.append(time.perf_counter() - begin)
for i in range(20_000):
    total += i
""",
    "function": """\
%%tfprofile function --quiet --out function
@tf.function
def step(x):
    y = tf.nn.relu(x + 1)
    y = tf.matmul(tf.tile(y, (1, 16)), tf.tile(x, (16, 1)))
    return tf.reduce_mean(y)

x = tf.ones((512, 512))
for _ in range(4):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = step(x)
    tape.gradient(loss, x)
""",
    "map": """\
%%tfprofile map --quiet --out map
def slow(x):
    x = x * 2
    x = tf.linalg.inv(x)
    return tf.reduce_sum(x)

inverses = tf.data.Dataset.from_tensors(tf.eye(400)).repeat(90).map(slow)
for x in inverses:
    y = x + 1
""",
    "keras": """\
%%tfprofile keras --quiet --out keras
class Planted(keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], shape[-1]))
    def call(self, x):
        for _ in range(40):
            x = tf.tanh(x @ self.w)
        return x
model = keras.Sequential([keras.layers.Dense(512), Planted(name="planted"), keras.layers.Dense(4)])
model.compile("sgd", "mse")
model.fit(np.ones((256, 64)), np.ones((256, 4)), batch_size=32, epochs=3, verbose=0)
""",
    "plain": """\
%%tfprofile plain --quiet --out plain
def spin(n):
    return sum(k % 7 for k in range(n))
spun = spin(2_000_000)
""",
    "off": "%%tfprofile off --quiet --no-lines --out off\ntime.sleep(0.001)\n",
    "checks": """\
assert set(dir(__import__("builtins"))) - before <= {"_"}, set(dir(__import__("builtins"))) - before
print(sum(taken))
from tfprof_nb.decode.sidecar import read_sidecar
assert {"In[1]", "In[2]"} <= set(read_sidecar(sleep.files[0]).sections["cells"].values())
(setup,) = read_sidecar(sleep.files[0]).sections["cell_texts"].values()
assert "import time, keras" in setup, setup
for p in (sleep, function, map, keras):
    again = tp.load(p.files[0].parent).source.table
    assert p.source.table.equals(again)
""",
    "raises": "%%tfprofile --quiet\nfor i in range(3):\n    x = 5\n    1 / (2 - i)\n",
}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Run the cells; return the folder with the profiles, and the outputs by cell."""
    folder = tmp_path_factory.mktemp("lines")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (SETUP, *CELLS.values())])
    NotebookClient(notebook, timeout=300, allow_errors=True, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = dict(zip(("setup", *CELLS), (cell.outputs for cell in notebook.cells), strict=True))
    errors = {name: output for name in outputs for output in outputs[name] if output.output_type == "error"}
    assert set(errors) == {"raises"}, {name: "\n".join(error.traceback) for name, error in errors.items()}
    return folder, outputs


def lines_of(kernel, name):
    folder, _ = kernel
    return tp.load(folder / name).source


def line(name, text):
    """The number of the cell's line that contains a text."""
    return next(number for number, code in enumerate(CELLS[name].splitlines(), 1) if text in code)


def types(ops):
    """The types of ops; oneDNN's have a name of their own."""
    return set(ops["op_type"].str.removeprefix("_Mkl"))


def test_a_sleep_takes_what_the_clock_around_it_says(kernel):
    source = lines_of(kernel, "sleep")
    slept = line("sleep", "time.sleep")
    assert source.table.set_index("line")["code"][slept].strip() == "time.sleep(0.1)"
    (printed,) = (output.text for output in kernel[1]["checks"] if output.output_type == "stream")
    assert 500 * 0.99 < source.table.set_index("line")["self_ms"][slept] < 1000 * float(printed) * 1.01
    assert source.table.set_index("line")["occurrences"][slept] == 5


def test_the_graph_by_code_begins_in_the_cell(kernel):
    """Not with the call of the magic that runs it."""
    table = tp.load(kernel[0] / "keras").graph.code().table
    outermost = table[table["depth"] == 1]
    assert f"cell:{line('keras', 'model.fit')}:<module>" in set(outermost["name"])
    assert not outermost["name"].str.contains(":1:<module>").any()


def test_a_cell_without_tensorflow_is_answered_by_its_lines_and_has_no_pages_about_ops(kernel):
    p = tp.load(kernel[0] / "plain")
    _, tabs = panels(p)
    assert p.answer.kind == "finding"
    found = p.advice.table.iloc[p.answer.finding]
    assert found["rule"] == "python-outside-steps"
    assert found["place"] in {f"cell line {line('plain', code)}" for code in ("spun", "return")}
    assert [tab.name for tab in tabs.tabs] == [
        "Answer",
        "Breakdown",
        "Lines",
        "Python",
        "Memory",
        "Flame graph",
        "Trace",
    ]


def test_pages_about_what_was_not_used_are_not_there(kernel):
    *_, tabs = panels(tp.load(kernel[0] / "sleep"))
    names = {tab.name for tab in tabs.tabs}
    assert {"Steps", "Ops"} <= names
    assert not {"Kernels", "tf.data", "Functions", "Layers", "Graph"} & names
    *_, tabs = panels(tp.load(kernel[0] / "map"))
    assert "tf.data" in {tab.name for tab in tabs.tabs}


def test_a_hot_loop_is_counted_and_leaves_few_events(kernel):
    profile = tp.load(kernel[0] / "sleep")
    hot = line("sleep", "20_000") + 1
    assert profile.source.table.set_index("line")["occurrences"][hot] == 20_000
    events = profile.events
    assert (events["name"] == f"cell line {hot}").sum() == 1000


def test_eager_ops_belong_to_the_line_that_ran_them(kernel):
    ran = lines_of(kernel, "sleep").ops(line("sleep", "tf.reduce_sum"))
    assert dict(zip(ran["op_name"], ran["occurrences"], strict=True)) | {"Sum": 5, "Fill": 5} == dict(
        zip(ran["op_name"], ran["occurrences"], strict=True)
    )


def test_a_matmul_in_a_function_belongs_to_its_line_gradient_included(kernel):
    source = lines_of(kernel, "function")
    assert "MatMul" in types(source.ops(line("function", "tf.matmul")))
    assert source.table.set_index("line")["gradient_ms"][line("function", "tf.matmul")] > 0


def test_the_ops_of_a_map_function_belong_to_its_lines(kernel):
    source = lines_of(kernel, "map")
    assert "MatrixInverse" in types(source.ops(line("map", "inv")))
    assert source.table.set_index("line")["occurrences"][line("map", "for x in")] == 91  # the last finds the end
    assert source.line_of("Dataset_map_slow") == f"cell line {line('map', '.map(slow)')}"


def test_ops_belong_to_their_layer_and_its_line(kernel):
    source = lines_of(kernel, "keras")
    (kind,) = set(source.all_ops.loc[source.all_ops["layer"].str.endswith("planted"), "kind"])
    assert kind == "Planted"
    assert {"MatMul", "Tanh"} <= types(source.ops(line("keras", "tf.tanh")))
    assert {"forward", "backward"} <= set(source.all_ops["phase"])


def test_no_lines_leaves_no_marks(kernel):
    profile = tp.load(kernel[0] / "off")
    assert not profile.events["name"].astype(str).str.startswith("cell line").any()
    assert (profile.source.table["file"] != "cell").all()


def test_an_error_shows_the_cells_own_lines(kernel):
    (error,) = kernel[1]["raises"]
    text = "\n".join(error.traceback)
    assert error.ename == "ZeroDivisionError"
    assert "line_clock" not in text
    assert "__tfprof" not in text
    assert "1 / (" in text


def test_the_graph_by_code_names_cells_and_no_files_of_the_kernel(kernel):
    names = tp.load(kernel[0] / "function").graph.code().table["name"]
    assert names.str.contains(f"^cell:{line('function', 'tf.matmul')}:").any()
    assert not names.str.contains(r"^[0-9]+\.py").any()
