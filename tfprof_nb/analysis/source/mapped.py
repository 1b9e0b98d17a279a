"""What the map of a dataset calls, and whether it gives the same for a batch, by the program's text.

It does where each op works on every value alone, or along the last axis. What is not known to do so counts as not.
"""

import ast
import re
from collections.abc import Collection

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, calls_in, end_of, first_given, name_of, names_in

_ELEMENTWISE = re.compile(
    r"abs|add|add_n|adjust_brightness|adjust_contrast|adjust_gamma|adjust_hue|adjust_saturation|cast|ceil|"
    r"central_crop|clip_by_value|convert_image_dtype|cos|decode_csv|decode_raw|divide|divide_no_nan|equal|exp|"
    r"flip_left_right|flip_up_down|floor|greater|greater_equal|grayscale_to_rgb|identity|is_nan|less|less_equal|log|"
    r"log1p|logical_and|logical_not|logical_or|lower|maximum|minimum|multiply|negative|not_equal|one_hot|ones_like|"
    r"per_image_standardization|pow|regex_replace|relu|resize|resize_with_crop_or_pad|resize_with_pad|rgb_to_grayscale|"
    r"round|sigmoid|sign|sin|sqrt|square|strip|subtract|substr|tanh|to_hash_bucket_fast|to_hash_bucket_strong|to_number|"
    r"upper|where|zeros_like"
)
_ALONG_AN_AXIS = re.compile(
    r"argmax|argmin|concat|cumsum|expand_dims|l2_normalize|log_softmax|reduce_all|reduce_any|reduce_max|reduce_mean|"
    r"reduce_min|reduce_std|reduce_sum|reduce_variance|softmax|squeeze|stack|unstack"
)


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


def takes_batches(function: ast.FunctionDef | ast.Lambda, layers: Collection[str] = ()) -> bool:
    """Whether a function of an element gives the same for batches.

    Parameters
    ----------
    layers
        Names of Keras layers, which are made for batches.

    Examples
    --------
    >>> takes_batches(ast.parse("lambda x, y: (x / 255.0, y)").body[0].value)
    True
    >>> takes_batches(ast.parse("lambda x, y: (x[:6], x * y)").body[0].value)
    False
    """
    parameters = [argument.arg for argument in function.args.args if argument.arg != "self"]
    made_of = {name: frozenset({name}) for name in parameters}
    body = [ast.Return(function.body)] if isinstance(function, ast.Lambda) else function.body
    return all(_keeps_batches(statement, made_of, layers) for statement in body)


def _keeps_batches(statement: ast.stmt, made_of: dict[str, frozenset[str]], layers: Collection[str]) -> bool:
    """Whether a statement does, given of which parameters each name is made; names that it assigns are added."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if not isinstance(statement, ast.Assign | ast.Return) or statement.value is None:
        return False
    values = _results(statement.value)
    if not all(_is_rowwise(value, made_of, layers) for value in values):
        return False
    if isinstance(statement, ast.Assign):
        used = frozenset().union(*(_used(value, made_of) for value in values))
        made_of |= dict.fromkeys(names_in(statement, ast.Store), used)
        return all(isinstance(target, ast.Name | ast.Tuple) for target in statement.targets)
    return True


def _results(value: ast.expr) -> list[ast.expr]:
    """Return the tensors of a structure."""
    if isinstance(value, ast.Tuple | ast.List):
        return [one for part in value.elts for one in _results(part)]
    if isinstance(value, ast.Dict):
        return [one for part in value.values for one in _results(part)]
    return [value]


def _is_rowwise(value: ast.expr, made_of: dict[str, frozenset[str]], layers: Collection[str]) -> bool:
    """Whether an expression treats the rows of a batch alike and apart."""
    used = _used(value, made_of)
    if not used or isinstance(value, ast.Name):
        return True
    if len(used) > 1:  # whose shapes may differ
        return False
    if isinstance(value, ast.BinOp | ast.UnaryOp | ast.Compare):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.MatMult):
            return False
        return all(
            _is_rowwise(one, made_of, layers) for one in ast.iter_child_nodes(value) if isinstance(one, ast.expr)
        )
    if isinstance(value, ast.Subscript):
        return _is_rowwise(value.value, made_of, layers) and _keeps_first_axis(value.slice)
    if isinstance(value, ast.Call):
        given = [one for argument in value.args for one in _results(argument)]
        given += [keyword.value for keyword in value.keywords]
        return _takes_rows(value, layers) and all(_is_rowwise(one, made_of, layers) for one in given)
    return False


def _takes_rows(call: ast.Call, layers: Collection[str]) -> bool:
    name = ast.unparse(call.func)
    if name in layers:
        return True
    root, _, last = name.rpartition(".")
    if root.partition(".")[0] not in ("tf", "tensorflow"):
        return False
    axis = next((keyword.value for keyword in call.keywords if keyword.arg == "axis"), None)
    if axis is None and _ALONG_AN_AXIS.fullmatch(last) and len(call.args) > 1:
        axis = call.args[1]
    last_axis = axis is not None and ast.unparse(axis) == "-1"
    return bool(_ELEMENTWISE.fullmatch(last) or (_ALONG_AN_AXIS.fullmatch(last) and last_axis))


def _keeps_first_axis(index: ast.expr) -> bool:
    """Whether an index is a key, or counts from the last axis."""
    first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
    return isinstance(first, ast.Constant) and (isinstance(first.value, str) or first.value is ...)


def _used(value: ast.AST, made_of: dict[str, frozenset[str]]) -> frozenset[str]:
    names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
    return frozenset().union(*(made_of.get(name, frozenset()) for name in names))
