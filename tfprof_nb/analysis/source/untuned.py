"""Code that turns off the autotuner of tf.data for the passes that a statement makes."""

import ast
from collections.abc import Iterator

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.pipelines import is_dataset
from tfprof_nb.analysis.source.repeating import of_arrays
from tfprof_nb.analysis.source.syntax import end_of, name_of

# What passes over the datasets that it is given.
_METHODS, _DATA = ("fit", "evaluate", "predict"), ("x", "validation_data")
_AROUND = ("enumerate", "iter", "tqdm", "zip")
_TUNED, _NAMES = "autotune.", ("options", "data_options")
_OFF = "{0} = tf.data.Options()\n{0}.autotune.enabled = False\n"


def untuned(code: Code, file: str, line: int) -> str:
    r"""Return the statement at a line, of a loop its head, with datasets that have no autotuner; empty if uncertain.

    Examples
    --------
    >>> text = "ds = tf.data.Dataset.range(9).batch(3)\nfor k, x in enumerate(ds):\n    f(x)"
    >>> print(untuned(Code({"cell": text}), "cell", 2))
    options = tf.data.Options()
    options.autotune.enabled = False
    for k, x in enumerate(ds.with_options(options)):
    >>> untuned(Code({"cell": "for x in numbers:\n    f(x)"}), "cell", 1)
    ''
    """
    statement, texts = code.statement(file, line), [code.text(one) for one in code.files]
    free = [name for name in _NAMES if not any(name in text for text in texts)]
    datasets = list(_datasets(code, file, statement)) if statement else []
    if statement is None or not free or any(_TUNED in text for text in texts):
        return ""
    if not datasets:
        fit = code.call_at(file, line, "fit")
        ending = f".with_options({free[0]})"
        of_fit = of_arrays(code, file, fit, "untuned", ending, []) if fit and fit.args else ""
        return of_fit and _OFF.format(free[0]) + of_fit
    last = statement.body[0].lineno - 1 if isinstance(statement, ast.For) else statement.end_lineno
    lines = code.text(file).splitlines()[statement.lineno - 1 : last]
    for at, column in sorted(map(end_of, datasets), reverse=True):
        raw = lines[at - statement.lineno].encode()
        lines[at - statement.lineno] = (raw[:column] + f".with_options({free[0]})".encode() + raw[column:]).decode()
    return _OFF.format(free[0]) + "\n".join(one[statement.col_offset :] for one in lines)


def _datasets(code: Code, file: str, statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the datasets that a statement passes over."""
    given = [statement.iter] if isinstance(statement, ast.For) else []
    for call in (one for one in ast.walk(statement) if isinstance(one, ast.Call) and not given):
        if name_of(call.func) in _METHODS:
            yield from _known(code, file, [*call.args[:1], *(one.value for one in call.keywords if one.arg in _DATA)])
    while given and isinstance(given[0], ast.Call) and name_of(given[0].func) in _AROUND:
        given = given[0].args
    yield from _known(code, file, given)


def _known(code: Code, file: str, given: list[ast.expr]) -> Iterator[ast.expr]:
    for one in given:
        known = code.object_of(file, one)
        if known.kind == "dataset" if known else is_dataset(code, file, one):
            yield one
