"""What keeps a function of the program from running as a graph."""

import ast
import re
from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import arguments, calls_in, name_of
from tfprof_nb.analysis.source.uses import records

_MAKING = {
    *("Variable", "Sequential", "Model", "load_model", "load_weights", "clone_model", "compile", "fit", "predict"),
    *("evaluate", "train_on_batch", "predict_on_batch", "test_on_batch", "save", "open", "input", "numpy_function"),
}
_OF_OBJECTS = re.compile(r"\b(?:layers|optimizers|metrics|callbacks|applications|plt|saved_model)\.\w")
_TO_PYTHON = ("convert_to_numpy", "item", "tolist")
_LOOPS: tuple[type[ast.For | ast.While], ...] = ast.For, ast.While
_WHY = {
    "draws": "would run once, when the function is traced, and give the same numbers in every call",
    "values": "needs values, which do not exist while a function is traced",
    "number": "takes the whole number as an int32 in a graph, and raises where the tensor has another type",
}
_SAME_TYPES = {
    *("maximum", "minimum", "pow", "multiply", "subtract", "squared_difference", "equal", "not_equal", "greater"),
    *("greater_equal", "less", "less_equal"),
}
_PAIR = 2
_PLAIN = r"zeros|ones|empty|eye|identity|"
_PLAIN += r"u?int\d+|float\d+|complex\d+|bool_?|str_|object_|dtype|pi|e|inf|nan|newaxis|random|linalg|fft|ndarray"


class Untraceable(NamedTuple):
    """Code that cannot be traced: it draws random numbers, needs values, or has a whole number before a tensor."""

    code: str
    why: Literal["draws", "values", "number"]

    def __str__(self) -> str:
        return f"`{self.code}` {_WHY[self.why]}"


def untraceable(code: Code, file: str, line: int) -> Untraceable | None:
    r"""Return the first code that cannot be traced in a function, given the line of its ``def``; None without any.

    Examples
    --------
    >>> text = "def f(x):\n    return x + np.random.normal(size=3).astype(np.float32)\ndef g(x):\n    return x * np.pi"
    >>> code = Code({"cell": text})
    >>> untraceable(code, "cell", 1), untraceable(code, "cell", 3)
    (Untraceable(code='np.random.normal', why='draws'), None)
    >>> code = Code({"cell": "def f(x):\n    return int(x.shape[0] // 2)\ndef g(x):\n    return int(x[0])"})
    >>> untraceable(code, "cell", 1), untraceable(code, "cell", 3)
    (None, Untraceable(code='int()', why='values'))

    What a function calls must be traced as well. In a graph, a whole number is an int32 unless a tensor stands before
    it, so that ``tf.maximum(0, x)`` raises where ``x`` is no int32.

    >>> code = Code({"cell": "def f(x):\n    return g(x)\ndef g(x):\n    return tf.where(x > 0, 1, x)"})
    >>> untraceable(code, "cell", 1)
    Untraceable(code='tf.where(x > 0, 1, x)', why='number')
    """
    return next(filter(None, map(_untraceable, _parts(code, file, line))), None)


def _untraceable(node: ast.AST) -> Untraceable | None:
    """Return a part of the code if it cannot be traced itself."""
    if isinstance(node, ast.Attribute):
        if _is_random(node.value):
            return Untraceable(ast.unparse(node), "draws")
        if (node.attr == "numpy" or _is_numpy(node.value)) and _takes(node):
            return Untraceable(ast.unparse(node), "values")
    if isinstance(node, ast.Call):
        if _takes_a_number(node):
            return Untraceable(f"{ast.unparse(node.func)}()", "values")
        if name_of(node.func) in _TO_PYTHON:
            return Untraceable(ast.unparse(node.func), "values")
        if _begins_with_a_number(node):
            return Untraceable(ast.unparse(node), "number")
    return None


def _parts(code: Code, file: str, line: int) -> Iterator[ast.AST]:
    """Yield the parts of the function whose ``def`` stands at a line, and of those that it calls, but tf.functions."""
    begun = code.function_at(file, line)
    functions = [(file, begun)] if begun else []
    for at, function in functions:  # the list grows meanwhile
        yield from ast.walk(function)
        called = filter(None, (code.called(at, call) for call in calls_in(function)))
        functions += [one for one in dict.fromkeys(called) if one not in functions and not _is_traced(one[1])]


def _is_traced(function: ast.FunctionDef) -> bool:
    return any("function" in ast.unparse(one) for one in function.decorator_list)


def _begins_with_a_number(call: ast.Call) -> bool:
    """Whether a call of TensorFlow has a whole number before the tensor that must have the same type."""
    name, given = name_of(call.func), call.args
    compared = given[1:] if name == "where" else given if name in _SAME_TYPES else []
    first = compared[0] if len(compared) == _PAIR else None
    of_tensorflow = isinstance(call.func, ast.Attribute) and ast.unparse(call.func).startswith("tf.")
    return of_tensorflow and isinstance(first, ast.Constant) and type(first.value) is int


def has_effects(code: Code, file: str, line: int) -> bool:
    r"""Whether the function that begins at a line prints, or changes what outlives it: a graph would do it once.

    So does one that calls such a function.

    Examples
    --------
    >>> code = Code({"cell": "def f(x):\n    seen.append(x)\ndef g(x):\n    y = x * 2\n    return y"})
    >>> has_effects(code, "cell", 1), has_effects(code, "cell", 3)
    (True, False)
    """
    return any(map(_has_effect, _parts(code, file, line)))


def makes_objects(code: Code, file: str, line: int) -> bool:
    r"""Whether the function that begins at a line makes or trains models, variables or files: a graph may not.

    Examples
    --------
    >>> code = Code({"cell": "def f(x):\n    return keras.models.load_model(p)(x)\ndef g(x):\n    return x"})
    >>> makes_objects(code, "cell", 1), makes_objects(code, "cell", 3)
    (True, False)

    A function of the program is what it does, whatever its name.

    >>> code = Code({"cell": "def f(x):\n    return evaluate(x)\ndef evaluate(x):\n    return net(x)"})
    >>> makes_objects(code, "cell", 1)
    False
    """
    return any(isinstance(node, ast.Call) and _makes(code, node) for node in _parts(code, file, line))


def line_makes_objects(code: Code, file: str, line: int) -> bool:
    r"""Whether a line makes or trains models, variables or files, or calls a layer that it makes.

    Examples
    --------
    >>> code = Code({"cell": "x = Dense(8)(x)\ny = net(x)"})
    >>> line_makes_objects(code, "cell", 1), line_makes_objects(code, "cell", 2)
    (True, False)
    """
    return any(_makes(code, call) or isinstance(call.func, ast.Call) for call in code.calls(file, line))


def loop_makes_objects(code: Code, file: str, line: int) -> bool:
    r"""Whether the loop around a line makes or trains models, variables or files: its body can be no graph.

    Examples
    --------
    >>> code = Code({"cell": "for x in data:\n    y = net(x)\n    judge.train_on_batch(y)"})
    >>> loop_makes_objects(code, "cell", 2)
    True
    """
    return any(_makes(code, call) for call in calls_in(code.loop(file, line)))


def _makes(code: Code, call: ast.Call) -> bool:
    if name_of(call.func) in _MAKING:
        own = {one.name for file in code.files for one in code.nodes(file, ast.FunctionDef)}
        return not (isinstance(call.func, ast.Name) and call.func.id in own)
    return _OF_OBJECTS.search(ast.unparse(call.func)) is not None


def gets_numbers(code: Code, function: str) -> bool:
    r"""Whether calls of a function in a loop are given Python's numbers or texts: a graph is made for each such value.

    Examples
    --------
    >>> code = Code({"cell": "for i, x in enumerate(data):\n    f(x, i)\n    g(x)"})
    >>> gets_numbers(code, "f"), gets_numbers(code, "g")
    (True, False)
    >>> gets_numbers(Code({"cell": "for word in text.split():\n    f(word)"}), "f")
    True
    >>> code = Code({"cell": "rate = 0.1\nfor x in data:\n    f(x, rate)\n    g(x, rate=rate / 2)\n    rate *= 0.9"})
    >>> gets_numbers(code, "f"), gets_numbers(code, "g")
    (True, True)
    """
    for file in code.files:
        for call in (call for call in code.nodes(file, ast.Call) if name_of(call.func) == function):
            around = [node for kind in _LOOPS for node in code.nodes(file, kind)]
            around = [node for node in around if node.lineno < call.lineno <= (node.end_lineno or 0)]
            changing = {name for loop in around for name in _changing_values(loop)}
            if around and any(_is_value(given, changing) for given in arguments(call)):
                return True
    return False


def _changing_values(loop: ast.For | ast.While) -> set[str]:
    """Return the names that have another number or text of Python in each pass of a loop."""
    names = _given_by(loop) if isinstance(loop, ast.For) else set[str]()
    counted = (node.target for node in ast.walk(loop) if isinstance(node, ast.AugAssign))
    names |= {target.id for target in counted if isinstance(target, ast.Name) and _is_counted(loop, target.id)}
    for node in ast.walk(loop):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(target, ast.Name) and isinstance(node, ast.Assign) and _is_value(node.value, names):
            names.add(target.id)
    return names


def _is_counted(loop: ast.For | ast.While, name: str) -> bool:
    """Whether all that a loop adds to or multiplies a name by are constants."""
    steps = [node for node in ast.walk(loop) if isinstance(node, ast.AugAssign) and name_of(node.target) == name]
    return all(isinstance(node.value, ast.Constant) for node in steps)


def _given_by(loop: ast.For) -> set[str]:
    """Return the names to which a loop gives numbers, or texts."""
    over, target = loop.iter, loop.target
    called = over.func if isinstance(over, ast.Call) else None
    plain = called.id if isinstance(called, ast.Name) else ""
    if plain == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    texts = isinstance(called, ast.Attribute) and called.attr in ("split", "splitlines")
    valued = plain in ("range", "enumerate") or texts
    return {target.id} if valued and isinstance(target, ast.Name) else set()


def _is_value(given: ast.expr, changing: Collection[str]) -> bool:
    """Whether an expression is a number or text of Python that changes."""
    if isinstance(given, ast.Name):
        return given.id in changing
    if isinstance(given, ast.BinOp):
        sides = given.left, given.right
        return any(_is_value(one, changing) for one in sides) and all(
            isinstance(one, ast.Constant) or _is_value(one, changing) for one in sides
        )
    called = given.func if isinstance(given, ast.Call) else None
    if isinstance(called, ast.Name):
        return called.id in ("int", "float", "str")
    return isinstance(called, ast.Attribute) and (called.attr == "item" or ast.unparse(called.value) == "random")


def _has_effect(node: ast.AST) -> bool:
    if isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom):
        return True
    if isinstance(node, ast.Attribute | ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return records(node)


def _is_random(value: ast.expr) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == "random" and _is_numpy(value.value)


def _takes_a_number(call: ast.Call) -> bool:
    makes = isinstance(call.func, ast.Name) and call.func.id in ("float", "int")
    return makes and not all(map(_is_static, arguments(call)))


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
    """Whether an attribute is no type, constant or part of NumPy, and makes no array of a size: it gets values."""
    return re.fullmatch(_PLAIN, node.attr) is None


def _is_numpy(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in ("np", "numpy")
