"""How a dataset is made, by the program's text: its chain of calls, through the names that it is assigned to."""

import ast
from collections.abc import Iterator

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, holds, name_of

_SINGLE = ("from_tensor_slices", "from_generator", "list_files", "TFRecordDataset", "TextLineDataset", "unbatch")
_BATCHED = ("batch", "padded_batch", "ragged_batch", "rebatch", "from_tensors")
_KEEPING = ("cache", "filter", "map", "prefetch", "repeat", "shuffle", "skip", "take", "unbatch")
_OF_FOLDERS = "_dataset_from_directory"  # their elements are batches


def stages(
    code: Code, file: str, expression: ast.expr, passed: tuple[ast.expr, ...] = ()
) -> Iterator[tuple[str, ast.Call]]:
    r"""Yield the calls that make a dataset, with their files, the last one first, as far as they are known.

    A name stands for what was ``passed`` already where cells assign it in turn.

    Examples
    --------
    >>> code = Code({"In[1]": "ds = Dataset.range(9)\nds = ds.map(f)", "cell": "net.fit(ds.batch(3))"})
    >>> (fit,) = (call for call in code.nodes("cell", ast.Call) if name_of(call.func) == "fit")
    >>> [(file, name_of(call.func)) for file, call in stages(code, "cell", fit.args[0])]
    [('cell', 'batch'), ('In[1]', 'map'), ('In[1]', 'range')]
    >>> code = Code({"In[1]": "ds = ds.map(f)", "In[2]": "ds = ds.batch(3)", "cell": "for x in ds: pass"})
    >>> [name_of(call.func) for _, call in stages(code, "cell", code.syntax("cell").body[0].iter)]
    ['batch', 'map', 'batch']
    """
    if isinstance(expression, ast.Call):
        yield file, expression
        if isinstance(expression.func, ast.Attribute):
            yield from stages(code, file, expression.func.value, passed)
    elif isinstance(expression, ast.Name) and expression not in passed and (found := _assigned(code, file, expression)):
        yield from stages(code, *found, (*passed, expression))


def is_dataset(code: Code, file: str, expression: ast.expr) -> bool:
    r"""Whether an expression is known to be a dataset.

    Examples
    --------
    >>> code = Code({"cell": "x = np.ones(9)\nx\nds.map(f)"})
    >>> [is_dataset(code, "cell", statement.value) for statement in code.syntax("cell").body[1:]]
    [False, True]
    """
    functions = [call.func for _, call in stages(code, file, expression)]
    return any(name_of(one) in (*_BATCHED, *_KEEPING) or "ataset" in ast.unparse(one) for one in functions)


def is_batched(code: Code, file: str, expression: ast.expr) -> bool | None:
    r"""Whether the elements of a dataset are batches; None if that is unknown.

    Examples
    --------
    >>> code = Code({"cell": "ds = tf.data.Dataset.from_tensor_slices(x)\nds = ds.map(f)\nnorm.adapt(ds)"})
    >>> is_batched(code, "cell", code.syntax("cell").body[-1].value.args[0])
    False
    >>> text = "def learn(data):\n    data = data.map(f)\n    norm.adapt(data)\nlearn(ds.batch(8))"
    >>> code = Code({"cell": text})
    >>> is_batched(code, "cell", code.syntax("cell").body[0].body[-1].value.args[0])
    True
    """
    for _, call in stages(code, file, expression):
        name = name_of(call.func)
        if name in _BATCHED or name.endswith(_OF_FOLDERS):
            return True
        if name in _SINGLE:
            return False
    return None


def batch_size(code: Code, file: str, expression: ast.expr) -> int:
    r"""Return the number that the last call of those that make batches of a dataset's elements is given; 0 without one.

    Examples
    --------
    >>> code = Code({"cell": "ds = Dataset.range(99).batch(8)\nnorm.adapt(ds.map(f))"})
    >>> batch_size(code, "cell", code.syntax("cell").body[-1].value.args[0])
    8
    """
    calls = (call for _, call in stages(code, file, expression) if name_of(call.func) in _BATCHED)
    sizes = [argument.value for call in calls for argument in call.args[:1] if isinstance(argument, ast.Constant)]
    return next((size for size in sizes if isinstance(size, int)), 0)


def _assigned(code: Code, file: str, name: ast.Name) -> tuple[str, ast.expr] | None:
    """Return what a name stands for at its place: what was assigned last before, or else in another cell.

    What other functions assign is theirs. A function's parameter stands for what the program's calls of the function
    give, if all give the same.
    """
    if given := _given(code, file, name):
        return given if given[1] is not name else None
    for other in dict.fromkeys([file, *code.files]):
        found = [
            node.value
            for node in code.nodes(other, ast.Assign)
            if assigned_name(node) == name.id
            and (other != file or (node.end_lineno or node.lineno) < name.lineno)
            and all(other == file and holds(around, name.lineno) for around in _functions_around(code, other, node))
        ]
        if found:
            return other, max(found, key=lambda value: value.lineno)
    return None


def _functions_around(code: Code, file: str, statement: ast.stmt) -> list[ast.FunctionDef]:
    return [function for function in code.nodes(file, ast.FunctionDef) if holds(function, statement.lineno)]


def _given(code: Code, file: str, name: ast.Name) -> tuple[str, ast.expr] | None:
    """Return what is given for a name that is a parameter of its function; the name itself if that is unknown."""
    function = code.function(file, name.lineno)
    parameters = [argument.arg for argument in function.args.args] if function else []
    if function is None or name.id not in parameters or _stored_before(function, name):
        return None
    position = parameters.index(name.id)
    calls = [(other, call) for other in code.files for call in code.nodes(other, ast.Call)]
    found = [
        (other, value)
        for other, call in calls
        if name_of(call.func) == function.name
        for value in [
            *call.args[position : position + 1],
            *(keyword.value for keyword in call.keywords if keyword.arg == name.id),
        ]
    ]
    return found[0] if len({ast.unparse(value) for _, value in found}) == 1 else (file, name)


def _stored_before(function: ast.FunctionDef, name: ast.Name) -> bool:
    stored = [name for name in ast.walk(function) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)]
    return any(one.id == name.id and one.lineno < name.lineno for one in stored)
