"""Causes around Keras' fit, by small tables: adapt, fit in a loop, XLA, and models that are made anew."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.events.compilations import Compilations
from tfprof_nb.analysis.source.code import Code

STEPS = pd.DataFrame(
    {
        "host": "vm",
        "phase": "train",
        "epoch": 0,
        "step_name": "train",
        "start_ms": [0.0, 900.0],
        "step_ms": [100.0, 100.0],
        "warm_up": False,
    }
)


@pytest.fixture
def evidence():
    """A capture of 1 s, two thirds of them in a call at a line of the cell; of 12 traced functions, and so on."""

    def make(texts, call="", line=1, traced=0, programs=(0, 0.0), tracing_ms=0.0):
        calls = {"file": "cell", "line": [line], "call": [call], "thread": "main", "samples": 100, "self_ms": 600.0}
        functions = {
            "function": ["one_step_on_iterator"],
            "mode": ["traced-nonXla"],
            "calls": [traced],
            "tracings": [1],
            "total_ms": [tracing_ms],
            "self_ms": [tracing_ms],
            "expensive_call_percent": [0.0],
            "cause": [""],
            "new_shapes": [0],
        }
        parts = {
            "overview": SimpleNamespace(
                summary={"capture_ms": 1000.0, "warm_up_steps_ms": tracing_ms, "measured_steps_ms": 200.0}
            ),
            "steps": SimpleNamespace(table=STEPS),
            "ops": None,
            "functions": SimpleNamespace(table=pd.DataFrame(functions)),
            "tf_data": None,
            "python": SimpleNamespace(calls=pd.DataFrame(calls | {"between_steps_ms": 600.0, "outside_ms": 600.0})),
        }
        code = Code({"cell": texts} if isinstance(texts, str) else texts)
        return Evidence(**parts, code=code, compilations=lambda: Compilations(*programs))

    return make


ADAPT = "ds = tf.data.Dataset.from_tensor_slices(texts)\nvectorize.adapt(ds.map(clean))"


def test_adapt_to_single_examples_is_given_batches(found_by, evidence):
    (one,) = found_by(evidence(ADAPT, "TextVectorization.adapt", 2), "adapt-small-elements")
    assert one.finding == "adapt takes 60.0% of the cell's time: it gets single examples (cell line 2)"
    assert one.change == "vectorize.adapt(ds.map(clean).batch(1024))"


def test_adapt_to_batches_is_told_to_take_larger_ones_and_arrays_are_taken_as_a_whole(found_by, evidence):
    (one,) = found_by(
        evidence(ADAPT.replace("(texts)", "(texts).batch(8)"), "Normalization.adapt", 2), "adapt-small-elements"
    )
    assert "it gets small batches" in one.finding
    assert one.change == "vectorize.adapt(ds.map(clean).rebatch(1024))"
    large = ADAPT.replace("(texts)", "(texts).batch(2048)")
    assert not list(found_by(evidence(large, "Normalization.adapt", 2), "adapt-small-elements"))
    assert not list(
        found_by(evidence("x = np.ones(9)\nnorm.adapt(x)", "Normalization.adapt", 2), "adapt-small-elements")
    )


def test_batches_that_a_function_is_given_are_known(found_by, evidence):
    text = "def encode(ds):\n    norm.adapt(ds.map(first))\nencode(made.batch(32))\nencode(made.batch(32))"
    (one,) = found_by(evidence(text, "Normalization.adapt", 2), "adapt-small-elements")
    assert one.change == "norm.adapt(ds.map(first).rebatch(1024))"


def test_the_dataset_of_another_cell_is_known(found_by, evidence):
    texts = {"cell": "norm.adapt(ds)", "In[2]": "ds = other", "In[3]": "ds = tf.data.TFRecordDataset(files)"}
    (one,) = found_by(evidence(texts, "Normalization.adapt", 1), "adapt-small-elements")
    assert "single examples" in one.finding


COMPILED = "for rate in rates:\n    net.compile(SGD(rate), 'mse')\n    net.fit(x, y)"
LOOP = "for _ in range(40):\n    h = net.fit(x, y, epochs=1)"


def test_fit_in_a_loop_is_called_once(found_by, evidence):
    (one,) = found_by(evidence(LOOP, "TensorFlowTrainer.fit", 2), "fit-in-loop")
    assert one.finding == "net.fit is called again and again: 60.0% of the time is between steps"
    assert "`epochs=40`" in one.fix
    assert (one.place, one.severity) == ("cell line 2", "high")


@pytest.mark.parametrize(
    "text",
    [
        "net.fit(x, y)",
        "for k in folds:\n    net = build()\n    net.fit(x, y)",
        "for net in nets:\n    net.fit(x, y)",
        COMPILED,
    ],
)
def test_a_single_fit_and_fits_of_other_models_are_calm(found_by, evidence, text):
    line = text.count("\n") + 1
    assert not list(found_by(evidence(text, "TensorFlowTrainer.fit", line), "fit-in-loop"))


def test_evaluating_by_hand_belongs_to_it(found_by, evidence):
    made = evidence(f"{LOOP}\n    loss = net.evaluate(vx, vy)", "TensorFlowTrainer.fit", 2)
    more = made.python.calls.assign(line=3, call="TensorFlowTrainer.evaluate", between_steps_ms=100.0)
    made.python.calls = pd.concat([made.python.calls, more])
    (one,) = found_by(made, "fit-in-loop")
    assert one.finding == "net.fit and net.evaluate are called again and again: 70.0% of the time is between steps"
    assert "`validation_data=`" in one.fix
    assert one.instead_of == (("predict-per-example", "net.evaluate"),)


def test_calls_that_start_a_pipeline_each_explain_the_waits_for_old_iterators(found_by, evidence):
    made = evidence("for x in parts:\n    net.predict(x)", "TensorFlowTrainer.predict", 2)
    made = replace(made, steps=SimpleNamespace(table=pd.concat([STEPS.assign(phase="predict")] * 10)))
    made.python.calls = made.python.calls.assign(library="Keras")
    (one,) = found_by(made, "predict-per-example")
    assert one.instead_of == (("input-bound", ""),)


def test_parts_of_the_data_become_one_dataset(found_by, evidence):
    text = "for part in parts:\n    net.fit(part.x, part.y)"
    (one,) = found_by(evidence(text, "TensorFlowTrainer.fit", 2), "fit-in-loop")
    assert "with a dataset that yields all parts" in one.fix


def test_xla_for_each_shape(found_by, evidence):
    text = "net.compile('adam', 'mse', jit_compile=True)\nnet.fit(ds)"
    (one,) = found_by(evidence(text, programs=(7, 500.0)), "xla-recompilation")
    assert one.finding == "XLA compiles 7 programs: 50.0% of the cell's time (cell line 1)"
    assert one.change == "net.compile('adam', 'mse')"


def test_models_that_are_made_anew_for_each_training(found_by, evidence):
    text = "for k in folds:\n    net = build()\n    net.fit(x[k])"
    (one,) = found_by(evidence(text, traced=5, tracing_ms=800.0), "model-built-in-loop")
    assert one.finding == "5 models are built and traced: 64.0% of the cell's time (cell line 2)"
    assert (one.severity, one.place) == ("info", "cell line 2")
    assert "for v, value in zip((*net.variables, *net.optimizer.variables), start): v.assign(value)" in one.fix


def test_models_are_counted_by_their_trainings_and_not_by_the_shapes_of_their_predictions(found_by, evidence):
    made = evidence("for k in folds:\n    net = build()\n    net.fit(x[k])", traced=5, tracing_ms=800.0)
    steps = pd.concat([STEPS, STEPS.assign(phase="predict")])
    functions = made.functions.table
    predicting = functions.assign(function="one_step_on_data_distributed", calls=10)
    made = replace(made, steps=SimpleNamespace(table=steps))
    made.functions.table = pd.concat([functions, predicting])
    (one,) = found_by(made, "model-built-in-loop")
    assert one.finding.startswith("5 models are built and traced")


def test_models_that_differ_in_their_learning_rate_are_made_once_and_given_it(found_by, evidence):
    build = "def build(lr):\n    m = make()\n    m.compile(Adam(learning_rate=lr), 'mse')\n    return m"
    text = f"{build}\nfor rate in rates:\n    net = build(rate)\n    net.fit(x)"
    (one,) = found_by(evidence(text, traced=5, tracing_ms=800.0), "model-built-in-loop")
    assert "though only its learning rate `rate` differs" in one.evidence
    assert one.fix.endswith("v.assign(value)`, and then `net.optimizer.learning_rate.assign(rate)`.")
    text = text.replace("make()", "make(lr)")
    assert not list(found_by(evidence(text, traced=5, tracing_ms=800.0), "model-built-in-loop"))


ASKED = """for x, y in memory:
    y = y + net.predict(x)
    net.fit(x, y, epochs=1, verbose=0)"""


def test_a_loop_that_asks_the_model_between_fits_of_one_batch_trains_on_batches(found_by, evidence):
    made = evidence(ASKED, "TensorFlowTrainer.fit", 3)
    made.python.callbacks = pd.DataFrame(
        {"method": ["on_epoch_end"], "calls": [int((STEPS["phase"] == "train").sum())]}
    )
    (one,) = found_by(made, "fit-in-loop")
    assert one.change == "net.train_on_batch(x, y)"
    assert "Call net.fit once" not in one.fix
    made.python.callbacks["calls"] = 1
    (one,) = found_by(made, "fit-in-loop")
    assert one.change == ""
    assert "Call net.fit once" not in one.fix
