"""Code that advice gives: a call with an argument or a call more, with another number, or without an argument."""

import ast
import re
import textwrap
from typing import TypeGuard

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import arguments, assigned_name, end_of, holds, name_of

# Arguments of `fit` that are of a batch, and those that are of the pipeline around it.
_OF_BATCH, _OF_PIPELINE = ("x", "y", "sample_weight"), ("verbose", "batch_size", "shuffle")
_OF_DATASETS = re.compile(
    r"apply|batch|bucket_by_sequence_length|cache|concatenate|enumerate|filter|flat_map|group_by_window|interleave|map|"
    r"padded_batch|prefetch|ragged_batch|rebatch|repeat|scan|shard|shuffle|skip|take|take_while|unbatch|unique|window|"
    r"with_options|zip"
)


def with_argument(code: Code, file: str, line: int, function: str, argument: str) -> str:
    r"""Return the lines of the call of a function with an argument more; empty if there is no such single call.

    Examples
    --------
    >>> with_argument(Code({"cell": "model.fit(Images(paths), epochs=2)"}), "cell", 1, "Images", "workers=4")
    'model.fit(Images(paths, workers=4), epochs=2)'
    """
    call = code.call_at(file, line, function)
    if call is None:
        return ""
    given = arguments(call)
    closing = end_of(call)[0], end_of(call)[1] - 1
    behind = max(map(end_of, given), default=closing)
    # Behind the last argument, unless that stands in parentheses, which have no place in the syntax tree.
    at = behind if _between(code, file, behind, closing).strip(" \n,") == "" else closing
    comma = ", " if given and not _between(code, file, (1, 0), at).rstrip().endswith(",") else ""
    return _inserted(code, file, call, comma + argument, at)


def with_call(code: Code, file: str, line: int, function: str, call: str) -> str:
    r"""Return the lines of the call of a function with another call behind; empty if there is no such single call.

    Examples
    --------
    >>> with_call(Code({"cell": "data = files.map(read).batch(8)"}), "cell", 1, "map", ".cache()")
    'data = files.map(read).cache().batch(8)'
    """
    found = code.call_at(file, line, function)
    return _inserted(code, file, found, call, end_of(found)) if found else ""


def with_argument_call(code: Code, file: str, line: int, function: str, call: str) -> str:
    r"""Return the lines of the call of a function, with a call behind its first argument; empty if there is none.

    Examples
    --------
    >>> with_argument_call(Code({"cell": "norm.adapt(data)"}), "cell", 1, "adapt", ".batch(64)")
    'norm.adapt(data.batch(64))'
    """
    found = code.call_at(file, line, function)
    return _inserted(code, file, found, call, end_of(found.args[0])) if found and found.args else ""


def with_number(code: Code, file: str, line: int, keyword: str, value: int) -> str:
    r"""Return a line with another number for a keyword; empty if it gives the keyword no number.

    Examples
    --------
    >>> with_number(Code({"cell": "data = Images(paths, workers=2)"}), "cell", 1, "workers", 8)
    'data = Images(paths, workers=8)'
    """
    text, count = re.subn(rf"\b{keyword}( *)=( *)\d+", rf"{keyword}\1=\g<2>{value}", code.line(file, line))
    return text if count == 1 else ""


def with_value(code: Code, file: str, line: int, function: str, keyword: str, value: str) -> str:
    r"""Return a line with another value for a keyword of a call; empty if there is no such single value on one line.

    Examples
    --------
    >>> with_value(Code({"cell": "f(Board(x, freq=1), freq=2)  # to see"}), "cell", 1, "Board", "freq", "'epoch'")
    "f(Board(x, freq='epoch'), freq=2)  # to see"
    """
    calls = (call for call in code.nodes(file, ast.Call) if name_of(call.func) == function)
    given = [one.value for call in calls for one in call.keywords if one.arg == keyword and one.value.lineno == line]
    if len(given) != 1 or given[0].end_lineno != line:
        return ""
    whole = code.text(file).splitlines()[line - 1].encode()
    return (whole[: given[0].col_offset] + value.encode() + whole[given[0].end_col_offset :]).decode().strip()


def without_argument(code: Code, file: str, line: int, keyword: str) -> tuple[int, str]:
    r"""Return where the call begins that gives a keyword at a line, and its lines without that; 0 if there is none.

    Examples
    --------
    >>> without_argument(Code({"cell": "model.compile(\n    'sgd',\n    jit=True,\n)"}), "cell", 3, "jit")
    (1, "model.compile(\n    'sgd',\n)")
    """
    for call in code.nodes(file, ast.Call):
        for each in call.keywords:
            if each.arg == keyword and each.lineno == line:
                begin = each.lineno, each.col_offset
                behind = [end_of(value) for value in arguments(call) if end_of(value) < begin]
                places = ((keyword.lineno, keyword.col_offset) for keyword in call.keywords)
                following = min((place for place in places if place > begin), default=None)
                left_out = (max(behind), end_of(each.value)) if behind else (begin, following or end_of(each.value))
                return end_of(call.func)[0], _inserted(code, file, call, "", *left_out)
    return 0, ""


def end_of_pipeline(code: Code, file: str, line: int) -> tuple[int, str]:
    r"""Return the line that ends the chain of calls of which a line is part, and what it calls last.

    A chain goes on where its value is assigned to a name, and the same block assigns that name again.

    Examples
    --------
    >>> code = Code({"cell": "ds = files.map(read)\nds = ds.batch(8)\nmodel.fit(ds.map(f), epochs=2)"})
    >>> end_of_pipeline(code, "cell", 1), end_of_pipeline(code, "cell", 3), end_of_pipeline(code, "cell", 4)
    ((2, 'batch'), (3, 'map'), (0, ''))
    """
    statement = code.statement(file, line)
    holding = [node for node in ast.walk(statement or ast.Pass()) if _extends(node) and holds(node, line)]
    if statement is None or not holding:
        return 0, ""
    end = max(holding, key=end_of)
    name = assigned_name(statement)
    later = [one for one in code.block(file, statement) if name and one.lineno > statement.lineno]
    for one in later:
        if isinstance(one, ast.Assign) and assigned_name(one) == name and _extends(one.value):
            end = one.value
    return end_of(end.func)[0], name_of(end.func)


def on_batch(code: Code, file: str, line: int, method: str) -> str:
    r"""Return a line in which a model takes a batch, without a pipeline; empty if its calls are not that plain.

    Examples
    --------
    >>> on_batch(Code({"cell": "p = net.predict(x[None], verbose=0)[0]"}), "cell", 1, "predict")
    'p = net.predict_on_batch(x[None])[0]'
    >>> on_batch(Code({"cell": "a, b = net.predict(x)[0], net.predict(y)[0]"}), "cell", 1, "predict")
    'a, b = net.predict_on_batch(x)[0], net.predict_on_batch(y)[0]'
    >>> on_batch(Code({"cell": "p = net.predict(\n    x[None], verbose=0\n)[0]"}), "cell", 1, "predict")
    'p = net.predict_on_batch(x[None])[0]'
    """
    calls = [
        call for call in code.nodes(file, ast.Call) if end_of(call.func)[0] == line and name_of(call.func) == method
    ]
    statement = code.statement(file, line)
    last = max((end_of(call)[0] for call in calls), default=line)
    if last > line and (statement is None or (statement.lineno, statement.end_lineno) != (line, last)):
        return ""
    lines = [text.encode() for text in code.text(file).splitlines(keepends=True)[line - 1 : last]] if calls else []
    whole = b"".join(lines)
    for call in sorted(calls, key=end_of, reverse=True):
        keywords = {keyword.arg for keyword in call.keywords}
        if len(call.args) != 1 or keywords - {"verbose", "batch_size"}:
            return ""
        given = _between(code, file, (call.args[0].lineno, call.args[0].col_offset), end_of(call.args[0]))
        if f".{method}(" in given:
            return ""
        begin, end = (sum(map(len, lines[: at - line])) + column for at, column in (end_of(call.func), end_of(call)))
        whole = whole[:begin] + f"_on_batch({given})".encode() + whole[end:]
    return whole.decode().strip()


def trained_on_batch(code: Code, file: str, line: int) -> str:
    r"""Return a call of `fit` with plain examples as one of `train_on_batch`; empty if it asks for more, or is used.

    Examples
    --------
    >>> trained_on_batch(Code({"cell": "net.fit(s, t, epochs=1, verbose=0)"}), "cell", 1)
    'net.train_on_batch(s, t)'
    >>> trained_on_batch(Code({"cell": "log = net.fit(s, t)"}), "cell", 1)
    ''
    """
    call, statement = code.call_at(file, line, "fit"), code.statement(file, line)
    plain = call is not None and isinstance(statement, ast.Expr) and statement.value is call
    if call is None or not plain or not isinstance(call.func, ast.Attribute):
        return ""
    given = [ast.unparse(argument) for argument in call.args]
    given += [ast.unparse(keyword) for keyword in call.keywords if keyword.arg in _OF_BATCH]
    others = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg not in _OF_BATCH}
    if others.get("epochs", "1") != "1" or set(others) - {"epochs", *_OF_PIPELINE}:
        return ""
    return f"{ast.unparse(call.func).removesuffix('fit')}train_on_batch({', '.join(given)})"


def _between(code: Code, file: str, begin: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the text between two places, given as lines and offsets in bytes."""
    lines = [line.encode() for line in code.text(file).splitlines()[begin[0] - 1 : end[0]]]
    lines[-1] = lines[-1][: end[1]]
    lines[0] = lines[0][begin[1] :]
    return b"\n".join(lines).decode()


def _inserted(
    code: Code, file: str, call: ast.Call, text: str, at: tuple[int, int], until: tuple[int, int] | None = None
) -> str:
    """Return the lines from a call's name to its end, with a text inserted, or in the place of what is there."""
    first, last = end_of(call.func)[0], end_of(call)[0]
    rest = code.text(file).splitlines()[last - 1].encode()[end_of(call)[1] :].decode()
    block = _between(code, file, (first, 0), at) + text + _between(code, file, until or at, end_of(call)) + rest
    return textwrap.dedent(block).strip()


def _extends(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether an expression is a call that makes a dataset of another one."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _OF_DATASETS.fullmatch(node.func.attr) is not None
    )
