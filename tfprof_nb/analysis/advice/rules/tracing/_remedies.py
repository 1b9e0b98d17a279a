"""What makes a tf.function be traced once: the fix, its place in the code, and the code to write there."""

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

from tfprof_nb import _units
from tfprof_nb.analysis.functions.retracing import APPLIED_AGAIN, GENERALISE, OF_KERAS
from tfprof_nb.analysis.source.code import Code, place_of
from tfprof_nb.analysis.source.syntax import calls_in, names_in, scope_of

_FEWER_SHAPES = (
    "Give the batches few different shapes: pad them to some fixed lengths. In training, let .batch() drop the last "
    "smaller one too (drop_remainder=True), where a few examples less per epoch do no harm."
)
_GENERALISE = "Write @tf.function(reduce_retracing=True): one graph then serves all shapes."
_NEW_VALUE = re.compile(r"argument `(\w+)` was a new Python value")
_INTEGERS = re.compile(r"new Python value each time \(-?\d+,")
_TRAINS = r"\b{}\.trainable_(?:variables|weights)\b"
_ANOTHER_OBJECT = re.compile(r"argument `(\w+)` was a different object")
# Python's own functions, which need numbers, and the ops that do the same.
_OPS = {"min": "tf.minimum", "max": "tf.maximum", "round": "tf.round", "int": "tf.cast", "float": "tf.cast"}
# What TensorFlow calls a function without a name of its own, and how tf.function is given it.
_NAMELESS = {"function": r"\bfunction\(\s*(?:functools\.)?partial\(", "lambda": r"\bfunction\(\s*lambda\b"}


class _Inner(NamedTuple):
    """A function in another one: the names that it takes from that one, and whether that one only uses it itself."""

    taken: list[str]
    stays: bool


class Remedy(NamedTuple):
    """The fix, the place of the line to change, and the code for it; these are empty if unknown."""

    fix: str
    place: str = ""
    change: str = ""


def remedy(code: Code, name: str, cause: str, advised: str) -> Remedy:
    """Return what to do about a function that is traced again for a cause, where ``advised`` holds for any program."""
    if name in OF_KERAS:
        return Remedy(_FEWER_SHAPES)
    if found := _nameless(code, name):
        return _made_in_each_call(code, *found, cause)
    file, line = next(code.find(rf"def {re.escape(name)}\("), ("", 0))
    place = place_of(file, line) if line else ""
    if not cause or GENERALISE in cause:
        plain = code.line(file, line - 1) == "@tf.function"
        generalised = Remedy(_GENERALISE, place_of(file, line - 1), "@tf.function(reduce_retracing=True)")
        return generalised if plain else Remedy(_GENERALISE, place)
    if APPLIED_AGAIN in cause:
        return _applied_again(code, name, file, line)
    if value := _NEW_VALUE.search(cause):
        return _tensor_for(code, name, value[1], cause, file, line)
    if (changing := _ANOTHER_OBJECT.search(cause)) and (called := _call_with_lambda(code, name)):
        fix = (
            f"Define the function that {name} takes as `{changing[1]}` once, before the loop, and pass its name: each "
        )
        return Remedy(f"{fix}`lambda` is a new object, for which {name} is traced.", place_of(*called))
    return Remedy(f"{advised[:1].upper()}{advised[1:]}.", place)


def is_programs(code: Code, name: str) -> bool:
    """Whether a traced function is the program's, as far as its text is known; libraries have tf.functions too."""
    known = any(map(code.text, code.files))
    pattern = rf"\bdef {re.escape(name)}\(|\bfunction\(\s*(?:\w+\.)*{re.escape(name)}\b"
    return not known or name in OF_KERAS or name.strip("<>") in _NAMELESS or any(code.find(pattern))


def shown_name(code: Code, name: str) -> str:
    """Return what to call a function: of a ``functools.partial``, the function in it."""
    found = _nameless(code, name)
    if not found:
        return name
    if name == "function":
        return _partial(code, *found)[0] or name
    return f"The lambda at {place_of(*found)}"


def _nameless(code: Code, name: str) -> tuple[str, int] | None:
    """Return the only line that gives tf.function a function without a name of its own."""
    pattern = _NAMELESS.get(name.strip("<>"))
    found = list(code.find(pattern)) if pattern else []
    return found[0] if len(found) == 1 else None


def _made_in_each_call(code: Code, file: str, line: int, cause: str) -> Remedy:
    """Say how to apply tf.function once to a partial or a lambda that is made again and again."""
    place, (function, given) = place_of(file, line), _partial(code, file, line)
    if not function:
        fix = "Apply tf.function once, before the loop, to a function that takes what changes as an argument, a tensor."
        return Remedy(f"{fix} In line {line}, each new lambda is a new function, which is traced.", place)
    value = _NEW_VALUE.search(cause)
    arguments = [
        f"{name}=tf.constant({text})" if value and name == value[1] else f"{name}={text}" for name, text in given
    ]
    call = ", ".join([f"fast_{function}", *arguments])
    written = code.line(file, line)
    wrapped = f"partial({call})" if not written.count("functools.partial") else f"functools.partial({call})"
    fix = f"Apply tf.function once, before the loop: `fast_{function} = tf.function({function})`. Put `{wrapped}` in "
    return Remedy(
        f"{fix}place of `tf.function(...)` in line {line}: a new partial is a new function, which is traced.", place
    )


def _partial(code: Code, file: str, line: int) -> tuple[str, list[tuple[str, str]]]:
    """Return the function of a partial with only keywords that a line gives to tf.function, and the keywords."""
    try:
        given = ast.parse(code.argument(file, line, "function"), mode="eval").body
    except SyntaxError:
        return "", []
    if not isinstance(given, ast.Call) or len(given.args) != 1 or not isinstance(given.args[0], ast.Name):
        return "", []
    return given.args[0].id, [(str(one.arg), ast.unparse(one.value)) for one in given.keywords]


def _applied_again(code: Code, name: str, file: str, line: int) -> Remedy:
    """Say where to apply tf.function once: to a function that is defined in a loop, or passed to tf.function there."""
    applied = next(code.find(rf"tf\.function\(\s*{re.escape(name)}\b"), None)
    loop, text = code.loop_line(file, line)
    if applied or not line:
        fix = f"Apply tf.function once, before the loop, and call its result in the loop: `fast = tf.function({name})`."
        return Remedy(fix, place_of(*applied) if applied else "")
    if loop:
        fix = f"Move {name}, with its @tf.function, out of the loop: before line {loop}, `{_units.shorten(text, 60)}`. "
        return Remedy(f"{fix}Each definition is a new function, which is traced.", place_of(file, line))
    if outer := code.outer(file, line):
        inner = _inner_function(code, file, line)
        if inner and inner.stays:
            return _moved_out(name, outer, inner.taken, place_of(file, line))
        makes = next(code.find(rf"(?<!def )\b{re.escape(outer)}\("), None)
        fix = (
            f"Each call of {outer} makes a new tf.function, which has to be traced. Call {outer} once, before the loop"
        )
        place = place_of(*makes) if makes else place_of(file, line)
        begins_anew = _begins_anew(code, *makes) if makes else ""
        return Remedy(f"{fix}, and give its result what differs as tensors.{begins_anew}", place)
    return Remedy(
        f"Define {name} once, and keep it: each time that its definition runs, it is a new function, which is traced.",
        place_of(file, line),
    )


def _begins_anew(code: Code, file: str, line: int) -> str:
    """Say how a model that a loop makes anew for a call can be the same one; empty if it makes none."""
    loop = code.loop(file, line)
    made = names_in(loop, ast.Store) if loop else set[str]()
    calls = [node for node in code.nodes(file, ast.Call) if node.lineno == line]
    given = [argument.id for call in calls for argument in call.args if isinstance(argument, ast.Name)]
    model = next((name for name in given if name in made and any(code.find(_TRAINS.format(re.escape(name))))), "")
    if not model:
        return ""
    return (
        f" Make {model} there too, and reset it: keep `start = [v.numpy() for v in {model}.variables]`, and "
        f"begin each pass with `for v, value in zip({model}.variables, start): v.assign(value)`. Do so for the "
        "optimizer, whose variables `optimizer.build(variables)` makes."
    )


def _moved_out(name: str, outer: str, taken: Sequence[str], place: str) -> Remedy:
    """Say how to define a function once that another function defines anew whenever it is called."""
    listed = " and ".join(filter(None, (", ".join(taken[:-1]), *taken[-1:])))
    given = f", and give it what it takes from there as arguments too: {listed}" if taken else ""
    return Remedy(
        f"Move {name}, with its @tf.function, out of {outer}{given}. Each call of {outer} defines a new tf.function, "
        "which has to be traced.",
        place,
    )


def _tensor_for(code: Code, name: str, argument: str, cause: str, file: str, line: int) -> Remedy:
    """Say how to pass a tensor where a function is called with a new Python number each time."""
    tensor = _tensor(code, file, line, argument, is_integer=bool(_INTEGERS.search(cause)))
    if needing := _needing_numbers(code, file, line, argument):
        fix = f"Pass a tensor for {argument}: `{tensor}`. In {name}, write {' and '.join(needing)}"
        return Remedy(f"{fix}, which takes only Python numbers.", place_of(file, line))
    called = next(code.find(rf"(?<!def )\b{re.escape(name)}\(.*\b{argument}\b"), None)
    if not called:
        fix = f"Pass a tensor for {argument}: `{tensor}`, or a tf.Variable that is assigned."
        return Remedy(fix, place_of(file, line) if line else "")
    before, call, arguments = code.line(*called).partition(f"{name}(")
    change = f"{before}{call}" + re.sub(rf"\b{argument}\b(?! *=)", tensor, arguments)
    return Remedy(f"Pass a tensor for {argument}: `{tensor}`.", place_of(*called), change)


def _needing_numbers(code: Code, file: str, line: int, argument: str) -> list[str]:
    """Say what to write instead of Python's own functions that a function gives an argument to."""
    found = {
        ast.unparse(one.func): one.lineno
        for one in calls_in(code.function_at(file, line))
        if any(isinstance(part, ast.Name) and part.id == argument for given in one.args for part in ast.walk(given))
    }
    ops = {made: _OPS.get(made, f"tf.{made}" if made.startswith("math.") else "") for made in found}
    return [f"{op} in place of {made} ({place_of(file, found[made])})" for made, op in ops.items() if op]


def _tensor(code: Code, file: str, line: int, argument: str, *, is_integer: bool) -> str:
    """Return the code that makes a tensor of an argument: one of floats if the function calculates with it."""
    nodes = list(ast.walk(code.function_at(file, line) or ast.Pass()))
    calculates = any(isinstance(one, ast.BinOp) and argument in names_in(one, ast.Load) for one in nodes)
    places = [one.slice for one in nodes if isinstance(one, ast.Subscript)]
    places += [
        one
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) not in _OPS
        for one in node.args
        if isinstance(one, ast.Name) or ast.unparse(node.func).endswith("range")
    ]
    counts = any(argument in names_in(one, ast.Load) for one in places)
    return f"tf.constant({argument}{', tf.float32' * (calculates and is_integer and not counts)})"


def _call_with_lambda(code: Code, name: str) -> tuple[str, int] | None:
    return next(code.find(rf"(?<!def )\b{re.escape(name)}\(.*\blambda\b"), None)


def _inner_function(code: Code, file: str, line: int) -> _Inner | None:
    r"""Return what a function does with the one around it, given the line of its ``def``; None if there is none around.

    Examples
    --------
    >>> text = "def train(net, data):\n    def step(x):\n        return net(x)\n    for x in data:\n        step(x)"
    >>> _inner_function(Code({"cell": text}), "cell", 2)
    _Inner(taken=['net'], stays=True)
    >>> text = "def make(net):\n    def step(x):\n        return net(x)\n    return step"
    >>> _inner_function(Code({"cell": text}), "cell", 2)
    _Inner(taken=['net'], stays=False)
    """
    inner, outer = code.function_at(file, line), scope_of(code.syntax(file), line)
    if inner is None or not isinstance(outer, ast.FunctionDef):
        return None
    own = names_in(inner, ast.Store) | _parameters(inner)
    local = (names_in(outer, ast.Store) | _parameters(outer)) - own
    read = [one.id for one in ast.walk(inner) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    taken = [name for name in dict.fromkeys(read) if name in local]
    called = [call.func for call in calls_in(outer)]
    uses = (one for one in ast.walk(outer) if isinstance(one, ast.Name) and one.id == inner.name)
    return _Inner(taken, all(use in called for use in uses))


def _parameters(function: ast.FunctionDef) -> set[str]:
    given = function.args
    return {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
