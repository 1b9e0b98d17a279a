"""What keeps a function of the program from running as a graph."""

import ast
import re

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import arguments, calls_in, name_of
from tfprof_nb.analysis.source.uses import records

_MAKING = {
    *("Variable", "Sequential", "Model", "load_model", "load_weights", "clone_model", "compile", "fit", "predict"),
    *("evaluate", "train_on_batch", "predict_on_batch", "test_on_batch", "save", "open", "input", "numpy_function"),
}
_OF_OBJECTS = re.compile(r"\b(?:layers|optimizers|metrics|callbacks|applications|plt|saved_model)\.\w")
_TO_PYTHON = ("convert_to_numpy", "item", "tolist")
_PLAIN = r"zeros|ones|empty|eye|identity|u?int\d+|float\d+|complex\d+|bool_?|str_|object_|dtype|pi|e|inf|nan|newaxis|random|linalg|fft|ndarray"


def uses_values(code: Code, file: str, line: int) -> str:
    r"""Return the first code that cannot be traced in a function, given the line of its ``def``: it needs values.

    Examples
    --------
    >>> text = "def f(x):\n    return x + np.random.normal(size=3).astype(np.float32)\ndef g(x):\n    return x * np.pi"
    >>> code = Code({"cell": text})
    >>> uses_values(code, "cell", 1), uses_values(code, "cell", 3)
    ('np.random.normal', '')
    >>> code = Code({"cell": "def f(x):\n    return int(x.shape[0] // 2)\ndef g(x):\n    return int(x[0])"})
    >>> uses_values(code, "cell", 1), uses_values(code, "cell", 3)
    ('', 'int()')
    """
    for node in ast.walk(code.function_at(file, line) or ast.Pass()):
        if isinstance(node, ast.Attribute) and _is_random(node.value):
            return ast.unparse(node)
        if isinstance(node, ast.Attribute) and (node.attr == "numpy" or _is_numpy(node.value)) and _takes(node):
            return ast.unparse(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "int"):
            if not all(map(_is_static, arguments(node))):
                return f"{node.func.id}()"
        if isinstance(node, ast.Call) and name_of(node.func) in _TO_PYTHON:
            return ast.unparse(node.func)
    return ""


def has_effects(code: Code, file: str, line: int) -> bool:
    r"""Whether the function that begins at a line prints, or changes what outlives it: a graph would do it once.

    Examples
    --------
    >>> code = Code({"cell": "def f(x):\n    seen.append(x)\ndef g(x):\n    y = x * 2\n    return y"})
    >>> has_effects(code, "cell", 1), has_effects(code, "cell", 3)
    (True, False)
    """
    return any(map(_has_effect, ast.walk(code.function_at(file, line) or ast.Pass())))


def makes_objects(code: Code, file: str, line: int) -> bool:
    r"""Whether the function that begins at a line makes or trains models, variables or files: a graph may not.

    Examples
    --------
    >>> code = Code({"cell": "def f(x):\n    return keras.models.load_model(p)(x)\ndef g(x):\n    return x"})
    >>> makes_objects(code, "cell", 1), makes_objects(code, "cell", 3)
    (True, False)
    """
    return any(map(_makes, calls_in(code.function_at(file, line))))


def line_makes_objects(code: Code, file: str, line: int) -> bool:
    r"""Whether a line makes or trains models, variables or files, or calls a layer that it makes.

    Examples
    --------
    >>> code = Code({"cell": "x = Dense(8)(x)\ny = net(x)"})
    >>> line_makes_objects(code, "cell", 1), line_makes_objects(code, "cell", 2)
    (True, False)
    """
    return any(_makes(call) or isinstance(call.func, ast.Call) for call in code.calls(file, line))


def _makes(call: ast.Call) -> bool:
    return name_of(call.func) in _MAKING or _OF_OBJECTS.search(ast.unparse(call.func)) is not None


def gets_numbers(code: Code, function: str) -> bool:
    r"""Whether a call of a function is given the number of a loop's pass: a graph is made anew for each such number.

    Examples
    --------
    >>> code = Code({"cell": "for i, x in enumerate(data):\n    f(x, i)\n    g(x)"})
    >>> gets_numbers(code, "f"), gets_numbers(code, "g")
    (True, False)
    """
    for file in code.files:
        for call in (call for call in code.nodes(file, ast.Call) if name_of(call.func) == function):
            around = [node for node in code.nodes(file, ast.For) if node.lineno < call.lineno <= (node.end_lineno or 0)]
            numbers = {name for loop in around for name in _numbers(loop)}
            if any(isinstance(given, ast.Name) and given.id in numbers for given in arguments(call)):
                return True
    return False


def _numbers(loop: ast.For) -> set[str]:
    """Return the names that a loop over `range` or `enumerate` gives numbers."""
    over = name_of(loop.iter.func) if isinstance(loop.iter, ast.Call) else ""
    target = loop.target.elts[0] if over == "enumerate" and isinstance(loop.target, ast.Tuple) else loop.target
    numbered = over in ("range", "enumerate") and ast.unparse(loop.iter).startswith(over)
    return {target.id} if numbered and isinstance(target, ast.Name) else set()


def _has_effect(node: ast.AST) -> bool:
    if isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom):
        return True
    if isinstance(node, ast.Attribute | ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return records(node)


def draws(needs: str) -> bool:
    """Whether code that `uses_values` found draws random numbers in NumPy, which a graph would do once."""
    return ".random." in needs


def _is_random(value: ast.expr) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == "random" and _is_numpy(value.value)


def _is_static(value: ast.expr) -> bool:
    """Whether a number is known while a graph is made, as that of a shape is."""
    if isinstance(value, ast.BinOp):
        return _is_static(value.left) and _is_static(value.right)
    if isinstance(value, ast.Subscript | ast.UnaryOp):
        return _is_static(value.value if isinstance(value, ast.Subscript) else value.operand)
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "len"
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Attribute) and value.attr in ("shape", "ndim"))


def _takes(node: ast.Attribute) -> bool:
    """Whether an attribute is neither a type, nor a constant, nor a part of NumPy: it is called with values."""
    return re.fullmatch(_PLAIN, node.attr) is None


def _is_numpy(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in ("np", "numpy")
