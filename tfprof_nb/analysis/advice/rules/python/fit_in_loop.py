import ast

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted, training_ms
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.rewriting import trained_on_batch
from tfprof_nb.analysis.source.syntax import calls_in, holds, name_of, names_in, stored_in

_MIN_SAMPLES = 10
_ALL_SAVED = 0.6, None
_LEAVE_IT = ("fit", "evaluate", "predict", "save", "save_weights", "get_weights", "reset_metrics", "reset_states")
_NEEDS_THE_LAST = "The loop asks the model between the calls, so one call cannot replace them. "
_IS_ONE_BATCH = "Each trains on one batch: do that without a pipeline, by {}.train_on_batch."
_FOR_ONE_BATCH = "For small parts that are one batch each, {}.train_on_batch starts faster."
_VALIDATE = (
    " Let fit validate, with `validation_data=`, and stop with keras.callbacks.EarlyStopping: the pipeline of the "
    "validation data is then made once."
)

RULE = Rule(
    "fit-in-loop",
    "fit is called again and again",
    "Looks for `model.fit` in a loop whose calls take much of their time before and after their steps.",
    "Each call makes a pipeline and callbacks of its own, and ends them. Epochs of one call start over too, but "
    "quicker.",
    action="Call fit once",
    page="python",
    moderate=20.0,
    high=40.0,
    of="training",
    saved=(0.25, 0.7),
    supersedes=("input-bound", "python-between-ops", "small-steps", "old-iterators-end"),
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    calls = evidence.python.calls
    calls = calls[calls["thread"] == "main"]
    fits = calls[calls["call"].astype(str).str.endswith("Trainer.fit")]
    for (file, line), rows in fits.groupby(["file", "line"], sort=False):
        place = place_of(str(file), int(str(line)))
        loop = evidence.code.loop(*line_at(place))
        call = evidence.code.call_at(*line_at(place), "fit")
        if loop is None or call is None or _begins_anew(call, loop):
            continue
        validating = _validating(evidence, calls, str(file), call, loop)
        time_ms = float(rows["between_steps_ms"].sum() + validating["between_steps_ms"].sum())
        percent = min(100.0, 100 * time_ms / max(training_ms(evidence), 1e-9))
        if percent >= RULE.moderate and rows["samples"].sum() >= _MIN_SAMPLES:
            yield _case(evidence, place, call, loop, percent, time_ms, with_validation=len(validating) > 0)


def _case(
    evidence: Evidence,
    place: str,
    call: ast.Call,
    loop: ast.stmt,
    percent: float,
    time_ms: float,
    *,
    with_validation: bool,
) -> Case:
    model = ast.unparse(call.func).rpartition(".")[0]
    what = f"{model}.fit and {model}.evaluate are" if with_validation else f"{model}.fit is"
    needs_the_last = _asks(model, loop)
    single = needs_the_last and _single_batches(evidence)
    change = trained_on_batch(evidence.code, *line_at(place)) if single else ""
    if needs_the_last:
        fix = _NEEDS_THE_LAST + (_IS_ONE_BATCH if change else _FOR_ONE_BATCH).format(model)
    else:
        fix = _once(model, call, loop, stored_in(loop))
    return Case(
        percent,
        saved=_ALL_SAVED if change else None,
        finding=f"{what} called again and again: {evidence.of_training(percent)} is between steps",
        evidence=f"{quoted(evidence.code.at(place))} ({place}) stands in a loop. Each call makes a "
        f"pipeline and callbacks of its own, and ends them: {_units.milliseconds(time_ms)} in all.",
        fix=fix + _VALIDATE * with_validation,
        place=place,
        change=change,
        without_change=_NEEDS_THE_LAST + _FOR_ONE_BATCH.format(model) + _VALIDATE * with_validation if change else "",
        instead_of=(("predict-per-example", f"{model}.evaluate"),),
    )


def _validating(evidence: Evidence, calls: pd.DataFrame, file: str, call: ast.Call, loop: ast.stmt) -> pd.DataFrame:
    """Return the rows of lines of the loop that evaluate the model that it trains."""
    model = ast.unparse(call.func).rpartition(".")[0]
    lines = [
        one.func.end_lineno
        for one in evidence.code.nodes(file, ast.Call)
        if holds(loop, one.lineno) and ast.unparse(one.func) == f"{model}.evaluate"
    ]
    of_evaluate = calls["call"].astype(str).str.endswith("Trainer.evaluate")
    return calls[of_evaluate & (calls["file"] == file) & calls["line"].isin(lines)]


def _once(model: str, call: ast.Call, loop: ast.stmt, changing: set[str]) -> str:
    """Say how one call does what the loop does."""
    data = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("x", "y"))]
    if any(names_in(one, ast.Load) & changing for one in data):
        return (
            f"Call {model}.fit once, with a dataset that yields all parts one after another: "
            f"tf.data.Dataset.from_generator, or a keras.utils.PyDataset. For small parts that are one batch each, "
            f"{model}.train_on_batch starts faster."
        )
    return (
        f"Call {model}.fit once, with `epochs={_passes(loop)}`. Its `history` has the results of each epoch; what the "
        "loop does besides belongs in on_epoch_end of a callback."
    )


def _asks(model: str, loop: ast.stmt) -> bool:
    """Whether a loop asks the model that it trains, as for the targets of the next call."""
    called = {ast.unparse(call.func) for call in calls_in(loop)}
    return bool(called & {model, f"{model}.predict", f"{model}.predict_on_batch"})


def _single_batches(evidence: Evidence) -> bool:
    """Whether each epoch of training had a single step."""
    callbacks, phases = evidence.python.callbacks, evidence.steps.table["phase"]
    epochs = callbacks.loc[callbacks["method"] == "on_epoch_end", "calls"]
    return len(epochs) > 0 and int(epochs.max()) == int((phases == "train").sum())


def _passes(loop: ast.stmt) -> str:
    """Return how often a loop runs, as its `range` says; ``n`` if it has none."""
    over = loop.iter if isinstance(loop, ast.For) else None
    plain = isinstance(over, ast.Call) and name_of(over.func) == "range" and len(over.args) == 1
    return ast.unparse(over.args[0]) if plain and isinstance(over, ast.Call) else "n"


def _begins_anew(call: ast.Call, loop: ast.stmt) -> bool:
    """Whether each pass of a loop trains another model, or may change it otherwise: compiles it, sets its weights."""
    if names_in(call.func, ast.Load) & stored_in(loop) or not isinstance(call.func, ast.Attribute):
        return True
    model = ast.unparse(call.func.value)
    used = (node for node in ast.walk(loop) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == model)
    return any(node.attr not in _LEAVE_IT for node in used)
