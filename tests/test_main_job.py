"""The main job: `%%tfprofile` on a Keras cell of 40 batches shows its 40 steps, and what each was spent on."""

import numpy as np
import pytest
from IPython.testing.globalipapp import start_ipython

from tfprof_nb.analysis.steps.breakdown import CATEGORIES

BATCHES = 40
SETUP = """
import time
import tensorflow as tf

class Clock(tf.keras.callbacks.Callback):
    begun = []
    def on_train_batch_begin(self, batch, logs=None):
        self.begun.append(time.perf_counter())
    def on_train_end(self, logs=None):
        self.begun.append(time.perf_counter())

images = tf.random.uniform((40 * 32, 32, 32, 3))
labels = tf.random.uniform((40 * 32,), maxval=10, dtype=tf.int32)
data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(32)
data = data.map(lambda x, y: (tf.image.resize(tf.image.resize(x, (400, 400), "bicubic"), (32, 32)), y))
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(16, 3, activation="relu"), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run the cell in a shell, and return the shell's namespace."""
    shell = start_ipython()
    folder = tmp_path_factory.mktemp("main_job")
    shell.run_line_magic("load_ext", "tfprof_nb")
    shell.run_cell(SETUP).raise_error()
    cell = f"%%tfprofile job --quiet --out {folder}\nhistory = model.fit(data, verbose=0, callbacks=[Clock()])"
    shell.run_cell(cell).raise_error()
    yield shell.user_ns
    shell.run_line_magic("unload_ext", "tfprof_nb")


def test_every_batch_is_a_step(ran):
    table = ran["job"].steps.table
    assert len(table) == BATCHES
    assert ran["job"].steps.summary["source"] == "marked"
    assert set(table["phase"]) == {"train"}
    assert table["warm_up"].tolist() == [True] + [False] * (BATCHES - 1)


def test_categories_add_up_to_the_step_time(ran):
    table = ran["job"].steps.table
    np.testing.assert_allclose(table[[*CATEGORIES, "other_ms"]].sum(axis=1), table["step_ms"], rtol=1e-3)


def test_the_average_step_takes_what_a_batch_takes(ran):
    wall_ms = 1e3 * np.diff(ran["Clock"].begun)
    # The first batch traced, and our average leaves it out.
    assert ran["job"].steps.summary["step_ms_mean"] == pytest.approx(wall_ms[1:].mean(), rel=0.05)


def test_the_slow_stage_is_named(ran):
    profile = ran["job"]
    assert profile.overview.summary["verdict"] in ("highly", "moderately")
    assert "Map" in profile.tf_data.summary["bottleneck"]
    assert "tf.data.AUTOTUNE" in profile.advice.table["fix"].iloc[0]
