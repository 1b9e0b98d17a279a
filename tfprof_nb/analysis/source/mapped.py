"""What the map of a dataset calls, by the program's text."""

import ast

from tfprof_nb.analysis.source.batches import takes_batches
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, calls_in, end_of, first_given, name_of


def mapped_name(code: Code, file: str, line: int) -> str:
    r"""Return what the map at a line calls: a function's name, or "the lambda"; empty if that is unknown.

    A lambda that only calls one function of the program is that function.

    Examples
    --------
    >>> code = Code({"cell": "ds.map(lambda x: clean(x))\nds.map(partial(read, size=3))\ndef clean(x): ..."})
    >>> mapped_name(code, "cell", 1), mapped_name(code, "cell", 2)
    ('clean', 'read')
    """
    given = _given_to_map(code, file, line)
    return "the lambda" if isinstance(given, ast.Lambda) else ast.unparse(given) if given else ""


def maps_batches(code: Code, file: str, line: int) -> bool:
    """Whether what the map at a line calls gives the same for batches, as far as its text shows it."""
    found = _mapped(code, file, line)
    return found is not None and takes_batches(found[1], _layers(code))


def mapped_calls(code: Code, file: str, line: int, function: str) -> bool:
    r"""Whether what the map at a line calls has a call of a function in its text.

    Examples
    --------
    >>> mapped_calls(Code({"cell": "ds.map(lambda x: tf.io.decode_raw(x))"}), "cell", 1, "decode_raw")
    True
    """
    found = _mapped(code, file, line)
    return any(name_of(call.func) == function for call in calls_in(found[1] if found else None))


def lines_mapped(code: Code, file: str, line: int) -> tuple[str, int, int]:
    r"""Return the file, first and last line of the function that the map at a line calls; 0 if that is unknown.

    Examples
    --------
    >>> code = Code({"cell": "ds = files.map(read)", "In[2]": "def read(x):\n    return x"})
    >>> lines_mapped(code, "cell", 1)
    ('In[2]', 1, 2)
    """
    found = _mapped(code, file, line)
    return (found[0], found[1].lineno, found[1].end_lineno or found[1].lineno) if found else (file, 0, 0)


def batch_behind(code: Code, file: str, line: int) -> tuple[str, int] | None:
    r"""Return the file and line of the only ``.batch`` that follows a line, in the same block; None if unknown.

    Examples
    --------
    >>> batch_behind(Code({"cell": "ds = files.map(read)\nds = ds.batch(8)"}), "cell", 1)
    ('cell', 2)
    """
    statement = code.statement(file, line)
    block = code.block(file, statement) if statement else []
    later = [one for one in block if statement and one.lineno >= statement.lineno]
    calls = [call for one in later for call in calls_in(one)]
    found = [end_of(call.func)[0] for call in calls if name_of(call.func) == "batch" and end_of(call.func)[0] >= line]
    return (file, found[0]) if len(found) == 1 else None


def _given_to_map(code: Code, file: str, line: int) -> ast.expr | None:
    """Return what the map at a line calls, out of ``partial`` or a lambda that does nothing else."""
    given = first_given(code.call_at(file, line, "map"))
    if isinstance(given, ast.Call) and name_of(given.func) == "partial" and given.args:
        given = given.args[0]
    inner = given.body.func if isinstance(given, ast.Lambda) and isinstance(given.body, ast.Call) else None
    return inner if inner is not None and code.defined(file, inner) else given


def _mapped(code: Code, file: str, line: int) -> tuple[str, ast.FunctionDef | ast.Lambda] | None:
    given = _given_to_map(code, file, line)
    if isinstance(given, ast.Lambda):
        return file, given
    return code.defined(file, given) if given else None


def _layers(code: Code) -> set[str]:
    """Return the names to which the program assigns Keras layers."""
    assigned = (node for file in code.files for node in code.nodes(file, ast.Assign))
    return {
        assigned_name(one)
        for one in assigned
        if isinstance(one.value, ast.Call) and "layers." in ast.unparse(one.value.func)
    } - {""}
