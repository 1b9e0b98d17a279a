"""Models of which the program says that they have no weights to train, and that it trains."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code

TRAINING = ("train_on_batch", "fit")


class TrainedFrozen(NamedTuple):
    """A frozen model, where it is frozen, and the lines that train it."""

    model: str
    file: str
    line: int
    trained: list[tuple[str, int]]


def trained_frozen(code: Code) -> Iterator[TrainedFrozen]:
    r"""Yield the models that are frozen once, at the top of a file, and trained nevertheless.

    Where anything sets or unfreezes other weights, nothing is certain.

    Examples
    --------
    >>> text = "D.trainable = False\nboth = Model(z, D(G(z)))"
    >>> [one.trained for one in trained_frozen(Code({"In[1]": text, "cell": "D.train_on_batch(x, y)"}))]
    [[('cell', 1)]]
    >>> list(trained_frozen(Code({"In[1]": text, "cell": "D.trainable = True\nD.train_on_batch(x, y)"})))
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
        if isinstance(one, ast.Attribute) and one.attr in TRAINING and ast.unparse(one.value) == model
    ]
    if trained:
        yield TrainedFrozen(model, file, frozen.lineno, trained)
