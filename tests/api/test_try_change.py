"""A change that is tried: the user's objects are as before, bit for bit, and results are judged."""

import random
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from clock import Clock
from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.trial import steps, turns
from tfprof_nb.trials import Change, change_of, put_into_notebook, tried

pytestmark = pytest.mark.tensorflow

MODEL = """
import os, random, keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(3)
x = np.random.rand(96, 8).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = keras.Sequential([
    keras.layers.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dropout(0.3),
    keras.layers.BatchNormalization(), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-2), "mse", metrics=["mae"])
_ = model.fit(x, y, epochs=1, batch_size=16, verbose=0)
"""
FIT = "history = model.fit(x, y, epochs=2, batch_size=16, verbose=0)"
SECONDS, ROUNDS = 200.0, 2  # on a busy machine; the rounds end a trial


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(turns, "MAX_ROUNDS", ROUNDS)
    made = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    made.reset()
    yield made
    made.reset()
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def trained():
    """What MODEL makes."""
    space = {}
    exec(MODEL, space)
    return {name: value for name, value in space.items() if not name.startswith("__")}


@pytest.fixture
def with_model(shell, trained):
    """A notebook with a model that trials before used too: they put it back."""
    shell.push(trained)
    return shell


@pytest.fixture
def one_round(shell, monkeypatch):
    """For what the runs that warm up tell already, and for what they leave behind."""
    monkeypatch.setattr(turns, "MAX_ROUNDS", 1)


@pytest.fixture
def clock(monkeypatch):
    """Let each step take as long, however long it takes."""
    stands = Clock(look_s=0.05)
    for module in (steps, turns):
        monkeypatch.setattr(module, "time", stands)
    return stands


def run(shell, *cells):
    for cell in cells:
        shell.run_cell(cell, store_history=True).raise_error()


def change(cell, changed, claim="equal"):
    return Change("a-rule", "cell", f"%%tfprofile\n{changed}", claim), {"cell": f"%%tfprofile\n{cell}"}


def try_it(cell, changed, seconds=SECONDS, claim="equal"):
    one, texts = change(cell, changed, claim)
    return tried(one, texts, seconds)


def same(one, other):
    return [np.asarray(each).tobytes() for each in one] == [np.asarray(each).tobytes() for each in other]


def state_of(model):
    variables = [*model.variables, *model.optimizer.variables, *model.metrics_variables]
    return [each.numpy() for each in variables]


@pytest.mark.usefixtures("with_model")
def test_a_change_that_keeps_the_results():
    made = try_it(FIT, f"{FIT}\nfewer = 1")
    assert made.summary["results"] == "equal"
    assert made.notes[0] == "Results: equal for 12 steps."
    assert not made.summary["refuted"]
    assert list(made.table.columns) == ["round", "variant", "steps", "seconds", "ms_per_step"]
    assert set(made.table["variant"]) == {"as it is", "changed"}
    assert made.summary["rule"] == "a-rule"
    assert made.summary["speedup_low"] <= made.summary["speedup"] <= made.summary["speedup_high"]
    assert "now" in str(made)


@pytest.mark.usefixtures("one_round")
def test_models_optimizers_metrics_and_random_states_are_as_before(shell):
    run(shell, MODEL)
    space = shell.user_ns
    model, before = space["model"], state_of(space["model"])
    states = random.getstate(), np.random.get_state()[1].copy()  # noqa: NPY002
    attributes, names = dict(vars(model)), dict(space)
    try_it(FIT, f"{FIT}\nmodel.extra = 3\nrandom.random(), np.random.rand(), tf.random.normal((2,))")
    assert same(before, state_of(model))
    assert vars(model) == attributes
    assert {name: value for name, value in space.items() if names.get(name) is not value} == {}
    assert set(space) == set(names)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == (states[0], states[1].tolist())  # noqa: NPY002


@pytest.mark.usefixtures("one_round")
def test_what_is_drawn_next_is_what_would_have_been_drawn(shell):
    draws = """
drawn = [random.random(), float(np.random.rand()), float(tf.random.normal(())), float(generator.normal(())),
         float(numpys.normal()), keras.layers.Dense(1).name, keras.random.uniform((2,)).numpy().tolist()]
"""
    made = "generator = tf.random.Generator.from_seed(5); numpys = np.random.default_rng(5)"
    told = []
    for tries in (False, True):
        shell.reset()
        run(shell, MODEL, made)
        if tries:
            try_it(draws, f"{draws}\ngenerator.normal((5,))")
        run(shell, draws)
        told.append(shell.user_ns["drawn"])
    names = [each.pop(5).partition("_")[0] for each in told]
    assert told[0] == told[1]
    assert names == ["dense", "dense"]


@pytest.mark.usefixtures("one_round")
def test_an_optimizer_that_was_never_used_stays_so(shell):
    run(shell, MODEL.rpartition("_ = ")[0])
    model = shell.user_ns["model"]
    try_it(FIT, f"{FIT}\nfewer = 1")
    assert not model.optimizer.built
    assert len(model.metrics_variables) == 2  # the loss: the metrics make theirs when they first see a batch


@pytest.mark.usefixtures("one_round")
def test_containers_arrays_frames_closures_and_objects_are_as_before(shell):
    setup = """
import collections, numpy as np, pandas as pd
losses, counts, seen = [1.0], {"a": 1, "b": [1]}, {1}
queue = collections.deque([1, 2], maxlen=5)
array = np.arange(6.0)
view = array[2:]
frame = pd.DataFrame({"a": [1, 2, 3]})
class Config:
    steps = 3
    def __init__(self):
        self.rate = 0.1
config = Config()
def counter():
    n = 0
    def more():
        nonlocal n
        n += 1
        return n
    return more
more = counter()
def bump():
    global total
    total += 1
    return helper(total)
def helper(n):
    hidden.append(n)
    return n
total, hidden = 0, []
"""
    cell = """
losses.append(2.0); counts["c"] = 2; counts["b"].append(2); seen.add(9); queue.append(3)
array[:] = 7; view[0] = -1; frame["b"] = 1; frame.loc[0, "a"] = 100
config.rate = 5; Config.steps = 10; config.more = []
more(); bump()
del total
new = 3
"""
    run(shell, setup)
    space = shell.user_ns
    array, frame, losses = space["array"], space["frame"], space["losses"]
    try_it(cell, f"{cell}\nother = 1")
    assert (space["losses"], space["counts"], space["seen"]) == ([1.0], {"a": 1, "b": [1]}, {1})
    assert space["losses"] is losses
    assert list(space["queue"]) == [1, 2]
    assert array.tolist() == [0, 1, 2, 3, 4, 5]
    assert space["array"] is array
    assert frame.to_dict("list") == {"a": [1, 2, 3]}
    assert vars(space["config"]) == {"rate": 0.1}
    assert space["Config"].steps == 3
    assert space["more"]() == 1
    assert (space["total"], space["hidden"]) == (0, [])
    assert not {"new", "other"} & set(space)


def test_iterators_and_datasets_go_on_where_they_were(shell):
    setup = """
import tensorflow as tf
tf.random.set_seed(1)
numbers = iter([1, 2, 3, 4])
next(numbers)
shuffled = tf.data.Dataset.range(50).shuffle(50, seed=4).batch(10)
batches = iter(tf.data.Dataset.range(100).shuffle(20, seed=3).batch(5).prefetch(2))
next(batches)
variable = tf.Variable([1.0, 2.0])
table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0)
table.insert(tf.constant([1], tf.int64), tf.constant([10], tf.int64))
"""
    cell = """
got = [next(numbers), next(batches).numpy().tolist(), [b.numpy().tolist() for b in shuffled]]
variable.assign_add([1.0, 1.0])
table.insert(tf.constant([1, 2], tf.int64), tf.constant([11, 12], tf.int64))
"""
    told = []
    for tries in (False, True):
        shell.reset()
        run(shell, setup)
        if tries:
            made = try_it(cell, f"{cell}\nother = 1")
            assert made.summary["results"] == "equal"
        run(shell, cell)
        space = shell.user_ns
        told.append([space["got"], space["variable"].numpy().tolist(), sorted(space["table"].export()[1].numpy())])
    assert told[0] == told[1]


@pytest.mark.usefixtures("one_round")
def test_files_are_written_to_a_scratch_folder(shell, tmp_path):
    Path("data.txt").write_text("as before", encoding="utf-8")
    cell = """
import os, pathlib, tempfile
read = pathlib.Path("data.txt").read_text()
pathlib.Path("data.txt").write_text("changed")
os.makedirs("logs/a"); pathlib.Path("logs/a/new.txt").write_text("new")
handle, name = tempfile.mkstemp(); os.close(handle)
os.environ["OF_THE_TRIAL"] = "1"
"""
    made = try_it(cell, f"{cell}\nother = 1")
    assert Path("data.txt").read_text(encoding="utf-8") == "as before"
    assert [each.name for each in tmp_path.iterdir()] == ["data.txt"]
    assert Path.cwd() == tmp_path
    assert made.summary["rounds"]
    import os

    assert "OF_THE_TRIAL" not in os.environ


@pytest.mark.usefixtures("one_round")
def test_what_the_cell_makes_itself_may_be_in_use(shell, one_round):
    run(shell, "import tensorflow as tf")
    cell = (
        "board = tf.summary.create_file_writer('logs')\nwith board.as_default(): tf.summary.scalar('loss', 1, step=1)"
    )
    run(shell, cell)
    before = shell.user_ns["board"]
    assert try_it(cell, cell).summary["results"] in ("equal", "unknown")
    assert shell.user_ns["board"] is before


@pytest.mark.parametrize("zipped", ["(large, small)", "(small, large)"])
def test_zipped_datasets_may_have_batches_of_different_sizes(shell, one_round, zipped):
    run(
        shell,
        MODEL,
        "class Pair(keras.Model):\n    def train_step(self, data):\n"
        "        return {'loss': sum(tf.reduce_mean(each) for each in data)}\n"
        "pair, whole = Pair(), tf.data.Dataset.from_tensor_slices(x)\npair.compile()\n"
        "large, small = whole.batch(8), whole.batch(2)\n"
        f"zipped = tf.data.Dataset.zip({zipped})",
    )
    fit = "history = pair.fit(zipped, epochs=2, verbose=0)"
    assert try_it(fit, fit).summary["results"] == "equal"


def test_an_extension_that_is_loaded_stands_in_no_trials_way(shell):
    run(shell, "%load_ext storemagic\nx = 1")
    made = try_it("%load_ext storemagic\ny = x + 1", "%load_ext storemagic\ny = x + 2")
    assert made.summary["rounds"]


@pytest.mark.usefixtures("one_round")
def test_objects_that_import_when_they_are_asked_are_left_alone(shell):
    setup = """
import sys
class Lazy:
    def __getattr__(self, name):
        raise ModuleNotFoundError(f"asked for {name}")
lazy = {"one": Lazy()}
sys.modules["lazy"] = lazy["one"]
"""
    cell = "y = len(lazy), sys.maxsize"
    run(shell, setup)
    try:
        assert try_it(cell, f"{cell}\nz = 1").summary["rounds"]
    finally:
        del sys.modules["lazy"]


@pytest.mark.parametrize(
    ("setup", "cell", "why"),
    [
        ("batches = (k for k in range(9))", "next(batches)", "`batches` is a generator"),
        ("pairs = zip([1], [2])", "next(pairs)", "`pairs`"),
        ("x = 1", "input('go on?')", "input"),
        ("x = 1", "%cd ..", "%cd"),
        ("x = 1", "%load_ext storemagic", "%load_ext"),
        ("x = 1", "!touch here", "touch"),
        ("x = 1", "gone + 1", "`gone`"),
        ("x = 1", "raise ValueError('no')", "ValueError: no"),
        ("x = 1", "import socket; socket.create_connection(('127.0.0.1', 9))", "network"),
        ("x = 1", "import subprocess; subprocess.run(['true'])", "other programs"),
        (
            "import tempfile; place = tempfile.mkdtemp()",
            "open(place + '/new', 'w')",
            "which is not in its working folder",
        ),
        ("x = 1", "open('/nowhere/new.txt', 'w')", "/nowhere/new.txt"),
        ("x = 1", "await __import__('asyncio').sleep(0)", "await"),
    ],
)
def test_a_cell_that_cannot_be_repeated_says_why(shell, setup, cell, why):
    run(shell, setup)
    names = set(shell.user_ns)
    with pytest.raises(TfprofError, match=why.replace("(", r"\(")):
        try_it(cell, f"{cell}\nother = 1")
    assert set(shell.user_ns) == names


@pytest.mark.parametrize(
    ("changed", "words", "rounds"),
    [
        ("history = model.fit(x, y, epochs=1, batch_size=16, verbose=0)", "epochs", 1),
        ("history = model.fit(x[:80], y[:80], epochs=2, batch_size=16, verbose=0)", "96 and 80 examples", 1),
        ("history = model.fit(x, -y, epochs=2, batch_size=16, verbose=0)", "loss", ROUNDS),
        pytest.param(
            "history = model.fit(x, y, epochs=2, batch_size=16, verbose=0, shuffle=False)",
            "loss",
            ROUNDS,
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "history = model.fit(x, y.T.reshape(-1, 1)[::-1], epochs=2, batch_size=16, verbose=0)",
            "loss",
            ROUNDS,
            marks=pytest.mark.nightly,
        ),
    ],
)
@pytest.mark.usefixtures("with_model")
def test_wrong_changes_are_refuted(monkeypatch, changed, words, rounds):
    monkeypatch.setattr(turns, "MAX_ROUNDS", rounds)
    made = try_it(FIT, changed)
    assert made.summary["results"] == "different"
    assert made.summary["refuted"]
    assert words in made.notes[0]


NOISY = """
def noisy(x, y):
    return x + tf.random.normal(tf.shape(x), stddev=0.1), y

def doubled(x, y):
    return 2.0 * x, y
"""
PIPELINE = """
rows = tf.data.Dataset.from_tensor_slices((x, y)).map(doubled, num_parallel_calls=2)
train = rows.map(noisy, num_parallel_calls=2).shuffle(90).batch(20)
history = model.fit(train, epochs=3, verbose=0)
"""


@pytest.mark.parametrize(
    ("before", "after", "refuted", "words", "rounds"),
    [
        (".shuffle(90)", ".cache().shuffle(90)", True, "same random values", 1),
        pytest.param(".batch(20)", ".batch(20).cache()", True, "same random values", 1, marks=pytest.mark.nightly),
        ("batch(20)", "batch(20, drop_remainder=True)", True, "96 and 80 examples", 1),
        ("stddev=0.1), y", "stddev=0.1), y + 100.0", False, " epochs", 3),  # which tell how far apart results are
    ],
)
@pytest.mark.usefixtures("with_model")
def test_changes_of_random_pipelines_are_judged(monkeypatch, before, after, refuted, words, rounds):
    monkeypatch.setattr(turns, "MAX_ROUNDS", rounds)
    cell = NOISY + PIPELINE
    made = try_it(cell, cell.replace(before, after, 1), claim="order")
    assert made.summary["results"] == "different", made.notes
    assert made.summary["refuted"] == refuted
    assert words in made.notes[0]


@pytest.mark.usefixtures("with_model", "one_round")
def test_an_order_that_no_longer_changes_is_no_other_order():
    cell = PIPELINE.replace(".map(noisy, num_parallel_calls=2)", "").replace("doubled", "lambda x, y: (x, y)")
    made = try_it(cell, cell.replace(".shuffle(90)", ".shuffle(90).cache()"))
    assert made.summary["refuted"]
    assert "the same order in each pass" in made.notes[0]


@pytest.mark.usefixtures("with_model")
def test_a_change_that_may_differ_is_not_refuted():
    made = try_it(FIT, FIT.replace("16", "32"), claim="dynamics")
    assert (made.summary["results"], made.summary["refuted"]) == ("different", False)


def test_a_change_that_fails_is_refuted(shell):
    run(shell, "numbers = [1.0, 2.0]")
    made = try_it("total = sum(numbers)", "total = sum(number)")
    assert made.summary["refuted"]
    assert "NameError" in made.notes[0]


@pytest.mark.usefixtures("with_model", "clock")
def test_long_cells_do_as_many_steps_each():
    cell = FIT.replace("epochs=2", "epochs=100000")
    made = try_it(cell, f"other = 1\n{cell}", seconds=40)
    counted = made.table.loc[made.table["round"] > 0, "steps"]
    assert len(set(counted)) == 1
    assert made.summary["results"] == "equal"
    assert made.summary["of"] == "a step"


@pytest.mark.usefixtures("clock")
def test_an_own_loop_is_ended_too(shell):
    run(shell, "import numpy as np\ntotal = np.zeros(())")
    cell = "for k in range(10**9):\n    total += k"
    made = try_it(cell, cell.replace("+= k", "+= k + 1"), seconds=20)
    assert made.summary["results"] == "different"
    assert shell.user_ns["total"] == 0


def test_values_that_vary_by_themselves_are_not_compared(shell):
    run(shell, "import time")
    cell = "began = time.time()\ntotal = sum(range(1000))"
    assert try_it(cell, f"{cell}\nother = 1").summary["results"] == "equal"


def test_an_interrupt_keeps_the_rounds_that_ended(shell):
    run(shell, MODEL, "runs = 0\nclass Count:\n    n = 0")
    shell.user_ns["interrupt"] = interrupting(after=5)
    before = state_of(shell.user_ns["model"])
    cell = f"interrupt()\n{FIT}"
    made = try_it(cell, f"{cell}\nother = 1", seconds=60)
    assert made.table["round"].max() == 1
    assert made.notes[-1].startswith("Interrupted")
    assert same(before, state_of(shell.user_ns["model"]))


def test_an_interrupt_before_the_first_round_is_the_users(shell):
    run(shell, MODEL)
    shell.user_ns["interrupt"] = interrupting(after=1)
    before = state_of(shell.user_ns["model"])
    cell = f"{FIT}\ninterrupt()"
    with pytest.raises(KeyboardInterrupt):
        try_it(cell, f"{cell}\nother = 1")
    assert same(before, state_of(shell.user_ns["model"]))


def interrupting(after):
    """Return what interrupts the program at its so-manieth call: what is of `threading` is not put back."""
    left = threading.Semaphore(after - 1)

    def interrupt():
        if not left.acquire(blocking=False):
            signal.raise_signal(signal.SIGINT)

    return interrupt


def test_without_a_notebook_the_text_is_returned():
    InteractiveShell.clear_instance()
    one, texts = change("f(1)", "f(2)")
    assert put_into_notebook(one) == "%%tfprofile\nf(2)"
    with pytest.raises(TfprofError, match="only in a notebook"):
        tried(one, texts, 5)


def test_a_changed_cell_goes_below(shell):
    one, _ = change("f(1)", "f(2)")
    assert put_into_notebook(one) is None
    assert shell.rl_next_input == "%%tfprofile\nf(2)"


LONG_FIT = "model.fit(x, y, epochs=10**6, batch_size=16, verbose=0)"


@pytest.mark.usefixtures("with_model")
@pytest.mark.parametrize(
    "cell",
    [
        f"{LONG_FIT}\nfor _ in range(3):\n    found = model.predict(x[:1], verbose=0)",
        f"def ask(given):\n    return model.predict(given, verbose=0)\n\n{LONG_FIT}\nfound = ask(x[:1])",
    ],
)
def test_a_change_that_a_run_never_comes_to_is_not_judged(cell):
    with pytest.raises(TfprofError, match="did not come to what the change is about"):
        try_it(cell, cell.replace("model.predict(", "model.predict_on_batch("), seconds=6)


SLOW_EPOCHS = """
class Slow(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % EVERY == 0:
            time.sleep(0.4)
model.fit(x, y, epochs=6, batch_size=16, verbose=0, callbacks=[Slow()])
"""


@pytest.mark.usefixtures("with_model")
def test_what_a_change_gains_between_epochs_whole_cells_tell(shell, clock, monkeypatch):
    monkeypatch.setattr("time.sleep", clock.sleep)  # each step takes a look at the clock, however long it takes
    run(shell, "import keras, time")
    as_it_is, changed = (SLOW_EPOCHS.replace("EVERY", every) for every in ("1", "5"))
    one, texts = change(as_it_is, changed)
    made = tried(replace(one, is_between_epochs=True), texts, 10, 4.0)
    assert made.summary["of"] == "the cell"
    assert made.table["steps"].tolist() == [36] * len(made.table)
    assert made.summary["speedup"] > 1.2
    assert made.summary["results"] == "equal"


@pytest.mark.usefixtures("with_model")
def test_where_whole_cells_take_too_long_it_says_how_long():
    one, texts = change(FIT, f"{FIT}\nfewer = 1")
    one = replace(one, is_between_epochs=True)
    with pytest.raises(TfprofError, match="seconds=450"):
        tried(one, texts, 60, 100.0)
    one, texts = change(LONG_FIT, f"{LONG_FIT}\nfewer = 1")
    with pytest.raises(TfprofError, match="the cell as it is did not end"):
        tried(replace(one, is_between_epochs=True), texts, 6, 1.0)


@pytest.mark.parametrize(
    ("node", "is_between"),
    [
        ("cell/train/callback:Plot.on_epoch_end", True),
        ("cell/train/callback:Text.on_epoch_end/trace", True),
        ("cell/validation@In[2]:3/step", True),
        ("cell/train/callback:Log.on_train_batch_end", False),
        ("cell/train/callback:Log.on_batch_end", False),
        ("cell/train/step/op:loss", False),
        ("", False),
    ],
)
def test_a_findings_part_of_the_cell_tells_whether_it_is_between_epochs(node, is_between):
    table = pd.DataFrame([{"rule": "slow-callback", "change": "f(2)", "place": "cell line 1", "node": node}])
    advice = SimpleNamespace(table=table)
    assert change_of(advice, {"cell": "f(1)"}, None).is_between_epochs == is_between


@pytest.mark.usefixtures("with_model")
def test_a_change_behind_a_short_fit_is_judged():
    cell = f"def ask(given):\n    return model.predict(given, verbose=0)\n\n{FIT}\nfound = ask(x[:1])"
    made = try_it(cell, cell.replace("model.predict(given, verbose=0)", "model.predict_on_batch(given)"))
    assert made.summary["results"] in ("equal", "close")
