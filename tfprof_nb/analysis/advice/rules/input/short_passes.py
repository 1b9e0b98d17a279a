"""Passes over the data that are shorter than their start."""

import ast

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.wording import in_code
from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.source.rewriting import with_argument_call
from tfprof_nb.analysis.source.syntax import first_given

_ARRAYS = ("array", "tensor")
_BATCH_OF_KERAS = "32"
# What Keras takes beside arrays but not beside a dataset, or does otherwise with one, and what ends epochs already.
_OTHERWISE = {
    "validation_split",
    "sample_weight",
    "shuffle",
    "steps_per_epoch",
    "class_weight",
    "validation_batch_size",
}
_DATA = ("x", "y", "batch_size")

_PHASES = r"cell/(train|validation)(@[^/]*)?"
_MIN_PASSES, _MIN_PART = 3, 0.5  # of what the steps take
_ENDLESS = "Make one pass of them: give `fit` a dataset that ends with `.repeat()`, and `steps_per_epoch={}`"
_PY_DATASET = (
    "Let one epoch run several passes: a PyDataset whose `__len__` counts its batches several times starts less often"
)
_VALIDATION = " Likewise for validation: `.repeat()` and `validation_steps=`."

RULE = Rule(
    "short-passes",
    "Starting a pass over the data takes as long as the pass",
    "Looks for training over several epochs that spends at least half as long on starting its passes over the data as "
    "on its steps.",
    "Each epoch makes an iterator, with all stages of the pipeline and the functions that they call. An endless "
    "dataset has one iterator for all epochs.",
    action="Make one pass of many",
    page="tf_data",
    moderate=10.0,
    high=20.0,
    of="cell",
    saved=(0.4, 1.0),
    explains=("start",),
    results="order",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    """Report trainings whose epochs take long to start, with validation where that is started for each of them."""
    tree, steps = evidence.breakdown().table, evidence.steps.table
    training = steps[steps["phase"] == "train"]
    epochs = int(training["epoch"].nunique())
    starts = tree[tree["id"].str.fullmatch(f"{_PHASES}/start")]
    fits = tree[tree["id"].isin(starts["parent"]) & tree["id"].str.startswith("cell/train")]
    if epochs < _MIN_PASSES or fits.empty:
        return
    ran = tree[tree["id"].str.fullmatch(f"{_PHASES}/step")]
    starting_ms = float(starts["total_ms"].sum())
    passes = epochs * max(int(fits["count"].sum()), 1)
    if starts.loc[starts["parent"].isin(fits["id"]), "count"].sum() < passes:  # the data has no end
        return
    if starting_ms < _MIN_PART * float(ran["total_ms"].sum()):
        return
    place = str(fits.nlargest(1, "total_ms")["place"].iloc[0])
    each = _steps_of_each(training, passes)
    validates = bool(starts["id"].str.startswith("cell/validation").any())
    what = "training and validation" if validates else "training"
    percent = 100 * starting_ms / max(float(tree["total_ms"].iloc[0]), 1e-9)
    fix, change = _endless(evidence, place, each)
    yield Case(
        percent,
        f"Starting the passes over the data takes {_units.percent(percent)} of the cell's time",
        f"{in_code(place, evidence.code.at(place))}: {what} start{'s' * (not validates)} anew in each of "
        f"{_units.count(passes)} epochs, which takes {_units.milliseconds(starting_ms / passes)}"
        f"{f' for {each} step' + 's' * (each != 1) if each else ''}. Each start makes the pipeline's iterators.",
        fix + _VALIDATION * validates,
        place,
        change,
    )


def _steps_of_each(training: pd.DataFrame, passes: int) -> int:
    """Return how many steps each epoch has; 0 if they differ, or not all were recorded."""
    by_epoch = training.groupby("epoch").size()
    same = set(by_epoch) == {by_epoch.max()} and len(training) % passes == 0
    return len(training) // passes if same else 0


def _endless(evidence: Evidence, place: str, steps: int) -> tuple[str, str]:
    """Return how to have one iterator for all epochs: words, and where it is certain code."""
    file, line = line_at(place)
    call = evidence.code.call_at(file, line, "fit")
    given = first_given(call) if call else None
    known = evidence.code.object_of(file, given) if given else None
    if known and known.kind == "keras dataset":
        return f"{_PY_DATASET}.", ""
    change = _repeated(evidence.code, file, line, steps) if steps else ""
    told = f": `{_units.shorten(change, 140)}`" if change else ""
    return f"{_ENDLESS.format(steps or 'n')}{told}.", change


def _repeated(code: Code, file: str, line: int, steps: int) -> str:
    r"""Return a call of `fit` at a line with a dataset that has no end, and epochs of some steps; empty if uncertain.

    What is given must be known to be a dataset, or arrays.

    Examples
    --------
    >>> from tfprof_nb.decode.sections.names import NameObject, Names
    >>> kinds = {"net": "model", "ds": "dataset", "x": "array", "y": "array"}
    >>> names = Names("", {("", name): NameObject(kind, kind) for name, kind in kinds.items()})
    >>> def changed(text):
    ...     return _repeated(Code({"cell": text}, names), "cell", 1, 4)
    >>> changed("log = net.fit(ds, epochs=9)")
    'log = net.fit(ds.repeat(), steps_per_epoch=4, epochs=9)'
    >>> print(changed("net.fit(x, y, batch_size=8, epochs=9)"))
    endless = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(8).repeat().prefetch(tf.data.AUTOTUNE)
    net.fit(endless, steps_per_epoch=4, epochs=9)
    >>> changed("net.fit(x, y, validation_split=0.1)"), changed("net.fit(unknown)")
    ('', '')
    """
    call = code.call_at(file, line, "fit")
    if call is None or not call.args or {one.arg for one in call.keywords} & _OTHERWISE:
        return ""
    known = code.object_of(file, call.args[0])
    if known and known.kind == "dataset":
        plain = len(call.args) == 1
        return with_argument_call(code, file, line, "fit", f".repeat(), steps_per_epoch={steps}") if plain else ""
    return _of_arrays(code, file, call, steps)


def _of_arrays(code: Code, file: str, call: ast.Call, steps: int) -> str:
    """Return the call with a dataset made of its arrays in the line before; empty if these are not all known."""
    named = {one.arg: one.value for one in call.keywords}
    given = dict(zip(_DATA, call.args, strict=False)) | named
    arrays = [given[name] for name in ("x", "y") if name in given]
    known = [code.object_of(file, one) for one in arrays]
    statement = code.statement(file, call.lineno)
    text = code.text(file).splitlines()[call.lineno - 1]
    alone = statement is not None and statement.lineno == call.lineno == call.end_lineno == statement.end_lineno
    if not alone or len(call.args) > len(_DATA) or not all(one and one.kind in _ARRAYS for one in known):
        return ""
    size = ast.unparse(given["batch_size"]) if "batch_size" in given else _BATCH_OF_KERAS
    texts = [*map(ast.unparse, arrays)]
    data = f"({', '.join(texts)})" if len(texts) > 1 else texts[0]
    rest = [ast.unparse(one) for one in call.keywords if one.arg not in _DATA]
    before, behind = text.encode()[: call.col_offset].decode(), text.encode()[call.end_col_offset :].decode()
    fit = f"{ast.unparse(call.func)}({', '.join(['endless', f'steps_per_epoch={steps}', *rest])})"
    return (
        f"endless = tf.data.Dataset.from_tensor_slices({data}).shuffle(len({texts[0]})).batch({size}).repeat()"
        f".prefetch(tf.data.AUTOTUNE)\n{before.strip()}{' ' * before.rstrip().endswith('=')}{fit}{behind}"
    )
