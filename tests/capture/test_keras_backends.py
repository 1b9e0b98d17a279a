"""Keras on JAX or PyTorch: steps, callbacks and Python are profiled, training is untouched, and the rest is said."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

PROGRAM = """
import json, keras, numpy as np, tempfile
import tfprof_nb as tp

class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        sorted(np.random.rand(20_000))

def trained():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    x = np.arange(640, dtype="float32").reshape(160, 4) / 640
    history = model.fit(x, x[:, :1], epochs=2, batch_size=8, verbose=0, callbacks=[Slow()])
    model.train_on_batch(x[:8], x[:8, :1])
    return history.history["loss"]

alone = trained()
with tempfile.TemporaryDirectory() as folder:
    with tp.profile(logdir=folder) as p:
        profiled = trained()
    steps, tree = p.steps.table, p.breakdown.table
    told = {
        "same": alone == profiled,
        "steps": len(steps),
        "callbacks": int(tree.loc[tree["name"] == "Slow.on_train_batch_end", "count"].sum()),
        "backend": p.overview.summary["keras_backend"],
        "verdict": p.overview.summary["verdict"],
        "groups": list(tp.rules().set_index("rule")["group"].reindex(p.advice.table["rule"])),
    }
print(json.dumps(told))
"""


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """Return a folder with JAX, beside the packages of the tests."""
    folder = tmp_path_factory.mktemp("jax")
    install = ["uv", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), "jax", "jaxlib", "opt_einsum"]
    done = subprocess.run([sys.executable, "-m", *install], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"JAX cannot be installed: {done.stderr[-300:]}")
    return folder


@pytest.mark.nightly
@pytest.mark.tensorflow
@pytest.mark.parametrize(("backend", "title"), [("jax", "JAX"), ("torch", "PyTorch")])
def test_a_cell_is_profiled_whatever_runs_keras(backend, title, request):
    path = str(request.getfixturevalue("packages")) if backend == "jax" else ""
    if backend == "torch" and find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: its wheels for Linux on PyPI bring CUDA along")
    environment = os.environ | {"KERAS_BACKEND": backend, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["same"]
    assert (told["steps"], told["callbacks"], told["verdict"]) == (41, 40, "unknown")
    assert told["backend"] == title
    assert set(told["groups"]) <= {"input", "python", "memory"}  # nothing on what TensorFlow did not run
