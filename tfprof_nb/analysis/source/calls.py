"""Calls in a program's text that cost more than they look: of what is read, made or computed again each time."""

import ast
import builtins
import re
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, calls_in, holds, name_of, names_in, stored_in

_OPTIMIZERS = ("Adam", "AdamW", "SGD", "RMSprop", "Nadam", "Adagrad", "Adadelta", "Adamax", "Ftrl", "Lion")

# In the text of a function whose value may differ from call to call.
_CHANCE = re.compile(r"rand|rng|shuffle|sample|choice|next\(|time\.|open\(|read|yield")

_CHANGING = {"apply_gradients", "minimize", "apply", "assign", "assign_add", "assign_sub", "scatter_sub"}
_TRAINING = ("fit", "train_on_batch", "set_weights")


def read_anew(code: Code, file: str, line: int) -> str:
    r"""Return what a line takes out of an archive that its function opened with ``np.load``; empty if nothing.

    Examples
    --------
    >>> text = "def f(k):\n    z = np.load(paths[k])\n    return z['x'][k % 8]"
    >>> read_anew(Code({"cell": text}), "cell", 3)
    "z['x']"
    """
    function = code.function(file, line)
    if function is None:
        return ""
    opened = {
        assigned_name(node) for node in ast.walk(function) if isinstance(node, ast.Assign) and _is_load(node.value)
    }
    taken = (node for node in ast.walk(function) if isinstance(node, ast.Subscript) and holds(node, line))
    for one in taken:
        by_name = isinstance(one.slice, ast.Constant) and isinstance(one.slice.value, str)
        if by_name and (_is_load(one.value) or (isinstance(one.value, ast.Name) and one.value.id in opened)):
            return ast.unparse(one)
    return ""


def called_model(code: Code, file: str, line: int) -> str:
    r"""Return the only object that a line calls with ``training=``, as a model of Keras; empty if there is none.

    Examples
    --------
    >>> called_model(Code({"cell": "y = np.stack([net(x, training=True) for _ in range(9)])"}), "cell", 1)
    'net'
    """
    models = {
        call.func.id
        for call in code.calls(file, line)
        if isinstance(call.func, ast.Name) and any(keyword.arg == "training" for keyword in call.keywords)
    }
    return models.pop() if len(models) == 1 else ""


def called_object(code: Code, file: str, line: int) -> str:
    r"""Return the only name that a line calls and that is no function, class or builtin; empty if there is none.

    Examples
    --------
    >>> called_object(Code({"cell": "def f(x): ...\na = int(f(model(state[None])[0]))"}), "cell", 2)
    'model'
    """
    names = {call.func.id for call in code.calls(file, line) if isinstance(call.func, ast.Name)}
    defined = {function.name for other in code.files for function in code.nodes(other, ast.FunctionDef)}
    defined |= {owner.name for other in code.files for owner in code.nodes(other, ast.ClassDef)}
    objects = names - defined - set(dir(builtins))
    return objects.pop() if len(objects) == 1 else ""


def same_call(code: Code, file: str, line: int, function: str) -> str:
    r"""Return the call of a function at a line if nothing around it assigns what it is given; else an empty text.

    Such a call gives the same each time unless it depends on a state; functions with chance in their text are left out.

    Examples
    --------
    >>> text = "def scale(a):\n    return a / a.std()\ndef batch(i):\n    return scale(X)[i:i + 8], scale(i)"
    >>> same_call(Code({"cell": text}), "cell", 4, "scale")
    'scale(X)'
    """
    around = [node for node in (code.function(file, line), code.loop(file, line)) if node is not None]
    changing = {name for node in around for name in stored_in(node)}
    for call in code.calls(file, line):
        if name_of(call.func) != function.rpartition(".")[2] or not call.args or call.keywords:
            continue
        given = {argument.id for argument in call.args if isinstance(argument, ast.Name)}
        used = given | {name.id for name in ast.walk(call.func) if isinstance(name, ast.Name)}
        defined = code.defined(file, call.func)
        if around and len(given) == len(call.args) and not used & changing and defined:
            return "" if _CHANCE.search(ast.unparse(defined[1])) else ast.unparse(call)
    return ""


def compiled_in_loop(code: Code) -> tuple[str, int] | None:
    r"""Return the file and line of a model's ``compile`` in a loop that does not make the model; None without one.

    Examples
    --------
    >>> compiled_in_loop(Code({"cell": "for lr in rates:\n    net.compile(SGD(lr))\n    net.fit(x)"}))
    ('cell', 2)
    >>> compiled_in_loop(Code({"cell": "for k in folds:\n    net = build()\n    net.compile(SGD())"}))
    """
    for file in code.files:
        for call in code.nodes(file, ast.Call):
            loop = code.loop(file, call.lineno) if name_of(call.func) == "compile" else None
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            if loop and isinstance(owner, ast.Name) and owner.id not in stored_in(loop) | {"re"}:
                return file, call.lineno
    return None


class BuiltAgain(NamedTuple):
    """Where a model is made anew for each training, its name, and the name of its learning rate if that changes."""

    file: str
    line: int
    model: str
    rate: str = ""


def built_in_loop(code: Code) -> BuiltAgain | None:
    r"""Return what makes the same model anew in each pass of a loop that trains it.

    What is made with names that the loop assigns may be another model each time: then there is none. It may differ in
    its learning rate, which can be set.

    Examples
    --------
    >>> text = "for k in folds:\n    net = build()\n    net.fit(x[k])"
    >>> built_in_loop(Code({"cell": text}))
    BuiltAgain(file='cell', line=2, model='net', rate='')
    >>> built_in_loop(Code({"cell": text.replace("build()", "build(units=k)")}))
    >>> text_of_class = "class Net:\n    ...\n" + text.replace("net = build()", "made = Net()\n    net = made.build(8)")
    >>> built_in_loop(Code({"cell": text_of_class}))
    BuiltAgain(file='cell', line=5, model='net', rate='')
    >>> called = "def score(k):\n    net = build()\n    return net.fit(x[k])\nscores = [score(k) for k in folds]"
    >>> built_in_loop(Code({"cell": called}))
    BuiltAgain(file='cell', line=2, model='net', rate='')
    >>> swept = "def build(lr):\n    m = make()\n    m.compile(SGD(lr))\n    return m\n" + text.replace("d()", "d(k)")
    >>> built_in_loop(Code({"cell": swept}))
    BuiltAgain(file='cell', line=6, model='net', rate='k')
    """
    for file in code.files:
        for call in code.nodes(file, ast.Call):
            owner = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "fit" else None
            around = (code.function(file, call.lineno) or code.loop(file, call.lineno)) if owner else None
            if around is None or not isinstance(owner, ast.Name):
                continue
            if isinstance(around, ast.FunctionDef) and not _repeated(code, around.name):
                continue
            if made := _made_alike(code, file, around, owner.id):
                return made
    return None


def _made_alike(code: Code, file: str, around: ast.stmt, name: str) -> BuiltAgain | None:
    """Return the line that assigns a call to a name, if it reads no name that the code around assigns but a rate."""
    made = [node for node in ast.walk(around) if isinstance(node, ast.Assign) and assigned_name(node) == name]
    call = made[0].value if len(made) == 1 else None
    if not isinstance(call, ast.Call):
        return None
    statements = (node for node in ast.walk(around) if isinstance(node, ast.Assign))
    changing = stored_in(around) - {assigned_name(one) for one in statements if _is_plain_object(code, one.value)}
    rate = _only_rate(code, file, call, changing)
    alike = rate or not names_in(call, ast.Load) & changing
    return BuiltAgain(file, made[0].lineno, name, rate) if alike else None


def _is_plain_object(code: Code, made: ast.expr) -> bool:
    """Whether code makes an object of a class of the program and gives it nothing: each is alike."""
    if not isinstance(made, ast.Call) or made.args or made.keywords:
        return False
    return any(name_of(made.func) == one.name for file in code.files for one in code.nodes(file, ast.ClassDef))


def _repeated(code: Code, function: str) -> bool:
    """Whether a loop or a comprehension calls a function."""
    for file in code.files:
        for kind in (ast.For, ast.While, ast.ListComp, ast.DictComp, ast.GeneratorExp):
            for loop in code.nodes(file, kind):
                if any(name_of(call.func) == function for call in calls_in(loop)):
                    return True
    return False


def takes_gradients(code: Code, file: str, line: int) -> bool:
    r"""Whether the loop around a line takes gradients in each pass, and changes no weights.

    Examples
    --------
    >>> text = "for x in tf.range(n):\n    g = tape.gradient(loss(x), w)\n    total += g"
    >>> takes_gradients(Code({"cell": text}), "cell", 2)
    True
    >>> takes_gradients(Code({"cell": text + "\n    opt.apply_gradients([(g, w)])"}), "cell", 2)
    False
    """
    loop = code.loop(file, line)
    called = {name_of(call.func) for call in calls_in(loop)}
    return "gradient" in called and not called & _CHANGING


def changes_weights(code: Code, file: str, line: int) -> bool:
    r"""Whether the loop around a line, or a function of the program that it calls, trains: each pass has other weights.

    Examples
    --------
    >>> text = "def learn(x):\n    net.fit(x)\nfor x in data:\n    y = net(x)"
    >>> codes = Code({"cell": text}), Code({"cell": text + "\n    learn(y)"})
    >>> [changes_weights(code, "cell", 4) for code in codes]
    [False, True]
    """
    called = list(calls_in(code.loop(file, line)))
    called += [inner for call in called if (found := code.defined(file, call.func)) for inner in calls_in(found[1])]
    return bool({name_of(call.func) for call in called} & {*_CHANGING, *_TRAINING})


def _is_load(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "numpy.load")


def _only_rate(code: Code, file: str, call: ast.Call, changing: set[str]) -> str:
    r"""Return the only name of those that change which a call is given, if it becomes a learning rate and no more.

    Examples
    --------
    >>> text = "def build(lr, n):\n    net = make(n)\n    net.compile(Adam(lr), loss)\nnet = build(rate, 8)"
    >>> code = Code({"cell": text})
    >>> call = next(one for one in code.nodes("cell", ast.Call) if one.lineno == 4)
    >>> _only_rate(code, "cell", call, {"rate"}), _only_rate(code, "cell", call, {"rate", "make"})
    ('rate', 'rate')
    >>> used = Code({"cell": text.replace("make(n)", "make(n, lr)")})
    >>> _only_rate(used, "cell", call, {"rate"})
    ''
    """
    given = names_in(call, ast.Load) & changing
    defined = code.defined(file, call.func)
    if len(given) != 1 or defined is None:
        return ""
    (name,), parameters = given, [argument.arg for argument in defined[1].args.args]
    named = [(parameters[k], one) for k, one in enumerate(call.args) if k < len(parameters)]
    named += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    taking = [parameter for parameter, one in named if name in names_in(one, ast.Load)]
    plain = [parameter for parameter, one in named if isinstance(one, ast.Name) and one.id == name]
    return name if taking == plain and len(plain) == 1 and _is_rate(defined[1], plain[0]) else ""


def _is_rate(function: ast.FunctionDef, parameter: str) -> bool:
    """Whether a function only passes a parameter to an optimizer, as its learning rate."""
    uses = [name for name in ast.walk(function) if isinstance(name, ast.Name) and name.id == parameter]
    optimizers = [call for call in calls_in(function) if name_of(call.func) in _OPTIMIZERS]
    rates = [one for call in optimizers for one in _rates(call)]
    return bool(uses) and all(any(use is rate for rate in rates) for use in uses)


def _rates(call: ast.Call) -> list[ast.expr]:
    return [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "learning_rate")]
