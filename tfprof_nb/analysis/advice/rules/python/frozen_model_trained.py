import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfprof_nb import _units
from tfprof_nb.analysis.advice import UNKNOWN, Case, Cases, Earlier, Evidence, Rule, in_code
from tfprof_nb.analysis.advice.rules.python._time import method_of
from tfprof_nb.analysis.source.code import Code, place_of

_TRAINING = ("train_on_batch", "fit")

RULE = Rule(
    "frozen-model-trained",
    "A model that is trained has no weights to train",
    "Looks for calls of `train_on_batch` and `fit` of a model whose `trainable` the program sets to False, and never "
    "back.",
    "Keras 3 obeys `trainable = False` after compile, too: such calls compute a loss, and change no weight.",
    action="Set trainable before each call",
    page="python",
    moderate=5.0,
    high=10.0,
    of="cell",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    calls, cell_ms = evidence.python.calls, float(evidence.breakdown().table["total_ms"].iloc[0])
    for frozen in _trained_frozen(evidence.code):
        lines = [(file, line) in frozen.trained for file, line in zip(calls["file"], calls["line"], strict=True)]
        trains = method_of(calls).isin(_TRAINING) & (calls["thread"] == "main")
        ran = calls[lines & trains.to_numpy()]
        percent = 100 * float(ran["self_ms"].sum()) / max(cell_ms, 1e-9)
        if ran.empty:
            continue
        place = place_of(frozen.file, frozen.line)
        first = place_of(str(ran["file"].iloc[0]), int(ran["line"].iloc[0]))
        yield Case(
            percent,
            f"{frozen.model} is trained, but has no weights to train",
            f"{in_code(place, evidence.code.at(place))} freezes it, and nothing thaws it: the calls that train it, as "
            f"{in_code(first, evidence.code.at(first))}, take {_units.percent(percent)} of the cell's time and change "
            "no weight.",
            f"Set `{frozen.model}.trainable = True` before each of these calls, and False before the model around it "
            "is trained; or leave the calls out, if it is to stay as it is.",
            place,
            gain=(percent, *UNKNOWN),
            subject=frozen.model,
        )


class _TrainedFrozen(NamedTuple):
    """A frozen model, where it is frozen, and the lines that train it."""

    model: str
    file: str
    line: int
    trained: list[tuple[str, int]]


def _trained_frozen(code: Code) -> Iterator[_TrainedFrozen]:
    r"""Yield the models that are frozen once, at the top of a file, and trained nevertheless.

    Where anything sets or unfreezes other weights, nothing is certain.

    Examples
    --------
    >>> text = "D.trainable = False\nboth = Model(z, D(G(z)))"
    >>> [one.trained for one in _trained_frozen(Code({"In[1]": text, "cell": "D.train_on_batch(x, y)"}))]
    [[('cell', 1)]]
    >>> list(_trained_frozen(Code({"In[1]": text, "cell": "D.trainable = True\nD.train_on_batch(x, y)"})))
    []
    """
    stored = [
        (file, one)
        for file in code.files
        for one in code.nodes(file, ast.Attribute)
        if one.attr == "trainable" and isinstance(one.ctx, ast.Store)
    ]
    if len({ast.dump(code.statement(file, one.lineno) or one) for file, one in stored}) != 1:
        return
    file, frozen = stored[0]
    statement = code.statement(file, frozen.lineno)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if statement not in code.syntax(file).body or not (isinstance(value, ast.Constant) and value.value is False):
        return
    model = ast.unparse(frozen.value)
    known = code.global_object(file, model)
    if known and known.kind != "model":
        return
    functions = ((other, call.func) for other in code.files for call in code.nodes(other, ast.Call))
    trained = [
        (other, one.end_lineno or one.lineno)
        for other, one in functions
        if isinstance(one, ast.Attribute) and one.attr in _TRAINING and ast.unparse(one.value) == model
    ]
    if trained:
        yield _TrainedFrozen(model, file, frozen.lineno, trained)
