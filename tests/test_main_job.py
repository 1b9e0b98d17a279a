"""The main job: `%%tfprofile` on a Keras cell of 40 batches shows its 40 steps, and what each was spent on."""

import sys

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tfprof_nb.analysis.steps.breakdown import CATEGORIES
from tfprof_nb.formats.marks import OPS_BEGIN

pytestmark = pytest.mark.tensorflow

BATCHES = 40
SETUP = """
import time
import tensorflow as tf

class Clock(tf.keras.callbacks.Callback):
    begun_ns, ended_ns = [], []
    def on_train_batch_begin(self, batch, logs=None):
        self.begun_ns.append(time.time_ns())
    def on_train_batch_end(self, batch, logs=None):
        self.ended_ns.append(time.time_ns())

images = tf.random.uniform((40 * 32, 32, 32, 3))
labels = tf.random.uniform((40 * 32,), maxval=10, dtype=tf.int32)
data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(32)
data = data.map(lambda x, y: (tf.image.resize(tf.image.resize(x, (200, 200), "bicubic"), (32, 32)), y))
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(16, 3, activation="relu"), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run the cell in a shell, and return the shell's namespace."""
    folder = tmp_path_factory.mktemp("main_job")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setattr(sys, "displayhook", sys.displayhook)
        shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
        shell.run_line_magic("load_ext", "tfprof_nb")
        shell.run_cell(SETUP).raise_error()
        cell = f"%%tfprofile job --quiet --out {folder}\nhistory = model.fit(data, verbose=0, callbacks=[Clock()])"
        shell.run_cell(cell).raise_error()
        yield shell.user_ns
        shell.run_line_magic("unload_ext", "tfprof_nb")
        InteractiveShell.clear_instance()


def test_every_batch_is_a_step(ran):
    table = ran["job"].steps.table
    assert len(table) == BATCHES
    assert ran["job"].steps.summary["source"] == "marked"
    assert set(table["phase"]) == {"train"}
    assert table["warm_up"].tolist() == [True] + [False] * (BATCHES - 1)


def test_categories_add_up_to_the_step_time(ran):
    table = ran["job"].steps.table
    np.testing.assert_allclose(table[[*CATEGORIES, "other_ms"]].sum(axis=1), table["step_ms"], rtol=1e-3)


def test_each_step_is_that_batch_by_the_clock(ran):
    """From just before its batch begins until just after its end, and before the next one."""
    table, clock = ran["job"].steps.table, ran["Clock"]
    start_ns = ran["job"].data.forests[0].host.began_ns + 1e6 * table["start_ms"].to_numpy()
    end_ns = start_ns + 1e6 * table["step_ms"].to_numpy()
    assert (start_ns <= clock.begun_ns).all()
    assert (clock.ended_ns <= end_ns).all()
    assert (end_ns[:-1] <= clock.begun_ns[1:]).all()


def test_the_stages_of_the_pipeline_are_there_and_batches_passed_them(ran):
    profile = ran["job"]
    recorded = int(profile.steps.table["ops_recorded"].sum())  # the ops of enough steps are
    again = int((profile.events["name"] == OPS_BEGIN).sum())  # in the middle of a step, perhaps before its fetch
    assert 0 < recorded <= profile.tf_data.summary["calls"] <= recorded + again
    stages = profile.tf_data.table["name"].str.removesuffix("V2").tolist()
    assert [stage.removeprefix("Parallel") for stage in stages if stage not in ("Root", "Prefetch")] == [
        *("Map", "Batch", "TensorSlice")
    ]


def test_it_says_what_to_do(ran):
    profile = ran["job"]
    assert profile.overview.summary["verdict"]
    assert {"finding", "fix"} <= set(profile.advice.table)
    assert f"{BATCHES} steps" in str(profile)
