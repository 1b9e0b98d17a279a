"""`%load_ext` and `%unload_ext`: after a profiled cell, the shell and TensorFlow are what they were before."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.tensorflow

STATE = """
import builtins, json, sys, threading, warnings
from IPython.core.interactiveshell import InteractiveShell
import tensorflow as tf, keras, ipywidgets, bqplot, anywidget
shell = InteractiveShell.instance()
shell.history_manager.enabled = False

def state():
    methods = {
        f"{kind.__module__}.{kind.__qualname__}.{name}": id(value)
        for kind in (keras.Model, keras.Layer, tf.data.Dataset, tf.Operation, tf.Graph, tf.compat.v1.Session)
        for base in kind.__mro__[:-1]
        for name, value in vars(base).items()
        if callable(value)
    }
    modules = (tf, tf.profiler.experimental, builtins, sys.modules["tensorflow.python.profiler.trace"])
    functions = {f"{m.__name__}.{k}": id(v) for m in modules for k, v in list(vars(m).items()) if callable(v)}
    return methods | functions | {
        "magics": sorted(name for names in shell.magics_manager.magics.values() for name in names),
        "registry": sorted(shell.magics_manager.registry),
        "transformers": [len(shell.input_transformers_post), len(shell.input_transformers_cleanup)],
        "ast": len(shell.ast_transformers),
        "events": {name: len(calls) for name, calls in shell.events.callbacks.items()},
        "hooks": [id(sys.excepthook), id(sys.displayhook), id(threading.excepthook)],
        "tracing": [id(sys.getprofile()), id(sys.gettrace())],
        "threads": sorted(t.name for t in threading.enumerate()),
        "path": list(sys.path), "meta_path": len(sys.meta_path), "filters": len(warnings.filters),
        "tools": [sys.monitoring.get_tool(i) for i in range(6)] if hasattr(sys, "monitoring") else [],
        "variables": sorted(name for name in shell.user_ns if not name.startswith("_") and name not in ("In", "Out")),
    }

CELL = '''%%tfprofile --out LOGS --quiet --metrics
import tensorflow as tf, keras
model = keras.Sequential([keras.layers.Dense(1)]); model.compile("sgd", "mse")
model.fit(tf.ones((8, 2)), tf.ones((8, 1)), verbose=0);
'''
shell.run_cell(CELL.partition("\\n")[2]).raise_error()
shell.run_line_magic("unload_ext", "nothing")  # IPython registers its own magic when it is first used
before = state()
shell.run_line_magic("load_ext", "tfprof_nb")
loaded = state()
shell.run_cell(CELL.replace("LOGS", sys.argv[1])).raise_error()
import tfprof_nb
steps = tfprof_nb.last().steps.summary["steps"]
shell.run_line_magic("unload_ext", "tfprof_nb")
after = state()
differs = [name for name in before | after if before.get(name) != after.get(name)]
changed = {name: [str(before.get(name)), str(after.get(name))] for name in differs}
print("RESULT" + json.dumps({"changed": changed, "loaded": loaded["magics"] != before["magics"], "steps": steps}))
"""


def test_a_profiled_cell_and_unloading_leave_nothing_behind(tmp_path):
    done = subprocess.run([sys.executable, "-c", STATE, tmp_path], capture_output=True, text=True, check=False)
    assert "RESULT" in done.stdout, done.stderr
    assert json.loads(done.stdout.partition("RESULT")[2]) == {"changed": {}, "loaded": True, "steps": 1}
