"""Whether a call that makes a model is given no other changing value than the learning rate of its optimizer."""

import ast

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import name_of, names_in

_OPTIMIZERS = ("Adam", "AdamW", "SGD", "RMSprop", "Nadam", "Adagrad", "Adadelta", "Adamax", "Ftrl", "Lion")


def only_rate(code: Code, file: str, call: ast.Call, changing: set[str]) -> str:
    r"""Return the only name of those that change which a call is given, if it becomes a learning rate and no more.

    Examples
    --------
    >>> text = "def build(lr, n):\n    net = make(n)\n    net.compile(Adam(lr), loss)\nnet = build(rate, 8)"
    >>> code = Code({"cell": text})
    >>> call = next(one for one in code.nodes("cell", ast.Call) if one.lineno == 4)
    >>> only_rate(code, "cell", call, {"rate"}), only_rate(code, "cell", call, {"rate", "make"})
    ('rate', 'rate')
    >>> used = Code({"cell": text.replace("make(n)", "make(n, lr)")})
    >>> only_rate(used, "cell", call, {"rate"})
    ''
    """
    given = names_in(call, ast.Load) & changing
    defined = code.defined(file, call.func)
    if len(given) != 1 or defined is None:
        return ""
    (name,), parameters = given, [one.arg for one in defined[1].args.args]
    named = [(parameters[k], one) for k, one in enumerate(call.args) if k < len(parameters)]
    named += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    taking = [parameter for parameter, one in named if name in names_in(one, ast.Load)]
    plain = [parameter for parameter, one in named if isinstance(one, ast.Name) and one.id == name]
    return name if taking == plain and len(plain) == 1 and _is_rate(defined[1], plain[0]) else ""


def _is_rate(function: ast.FunctionDef, parameter: str) -> bool:
    """Whether a function only passes a parameter to an optimizer, as its learning rate."""
    uses = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == parameter]
    optimizers = [one for one in ast.walk(function) if isinstance(one, ast.Call) and name_of(one.func) in _OPTIMIZERS]
    rates = [one for call in optimizers for one in _rates(call)]
    return bool(uses) and all(any(use is rate for rate in rates) for use in uses)


def _rates(call: ast.Call) -> list[ast.expr]:
    return [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "learning_rate")]
