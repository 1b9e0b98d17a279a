"""What a loop of the program does: where it begins, whether its calls need one another, which elements it reads."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import arguments, calls_in, holds, name_of, names_in

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_STORING = ("append", "extend", "add", "insert", "appendleft")
_CONVERSIONS = ("float", "int", "bool")
_GIVING_NUMBERS = frozenset(
    ("float", "int", "bool", "str", "len", "round", "sum", "item", "numpy", "result", "time", "perf_counter", "format")
)


@dataclass(frozen=True)
class ElementRead:
    """A tensor of which a loop reads one element after another.

    Attributes
    ----------
    tensor, read
        The tensor, and the code that reads an element.
    line
        The line where the loop begins, before which the whole tensor can be read.
    change
        The code for the place of that line; empty if other lines would have to change too.
    """

    tensor: str
    read: str
    line: int
    change: str


def is_head(code: Code, file: str, line: int) -> bool:
    r"""Whether a line is a loop's first and no more: its time is what the loop takes its items from.

    Examples
    --------
    >>> code = Code({"cell": "for x in data:\n    f(x)\nfor x in data: f(x)"})
    >>> [is_head(code, "cell", line) for line in (1, 2, 3)]
    [True, False, False]
    """
    statement = code.statement(file, line)
    return (
        isinstance(statement, ast.For | ast.AsyncFor) and statement.lineno == line and statement.body[0].lineno > line
    )


def repeats(code: Code, file: str, line: int) -> bool:
    r"""Whether a line stands in a loop or a comprehension of its function.

    Examples
    --------
    >>> code = Code({"cell": "for k in n:\n    def f():\n        a(k)\n        b(k)\n        return [c(x) for x in k]"})
    >>> repeats(code, "cell", 4), repeats(code, "cell", 5)
    (False, True)
    """
    functions = [node for node in code.nodes(file, ast.FunctionDef) if holds(node, line)]
    around = max((node.lineno for node in functions), default=0)
    loops = [
        *(node for node in code.nodes(file, ast.stmt) if isinstance(node, ast.For | ast.While)),
        *(node for node in code.nodes(file, ast.expr) if isinstance(node, _COMPREHENSIONS)),
    ]
    return any(holds(loop, line) and loop.lineno > around for loop in loops)


def needs_itself(code: Code, file: str, line: int) -> bool:
    r"""Whether a call at a line of a loop is given what comes of the same call in the pass before.

    Examples
    --------
    >>> code = Code({"cell": "for t in n:\n    out, state = step(x, state)\n    loss = train(x)\n    x = pick(out)"})
    >>> [needs_itself(code, "cell", line) for line in (2, 3)]
    [True, False]
    >>> needs_itself(Code({"cell": "for x in data:\n    total += step(x)"}), "cell", 2)
    False
    """
    loop, statement = code.loop(file, line), code.statement(file, line)
    if loop is None or not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return False
    given = {name for call in calls_in(statement.value) for part in arguments(call) for name in _read(part)}
    made = {name for target in _targets(statement) for name in _parts(target)}
    for _ in range(len(list(_assignments(loop)))):
        made |= {
            name
            for other in _assignments(loop)
            if other is not statement and other.value is not None and made & _read(other.value)
            for target in _targets(other)
            for name in _parts(target)
        }
    return bool(made & given)


def calls_its_items(loop: ast.stmt | None) -> bool:
    r"""Whether a loop calls what it goes through, as layers that have weights of their own: no loop of a graph can.

    Examples
    --------
    >>> texts = "for f in layers: x = f(x)", "for i in n: x = self.fs[i](x)", "for t in n: h = f(x[t], h)"
    >>> [calls_its_items(ast.parse(text).body[0]) for text in texts]
    [True, True, False]
    """
    if not isinstance(loop, ast.For):
        return False
    items = names_in(loop.target, ast.Store)
    return any(items & names_in(call.func, ast.Load) for call in calls_in(loop))


def goes_through_slices(loop: ast.stmt | None) -> bool:
    r"""Whether each pass of a loop reads its own slice of something, and nothing that a pass before made.

    Examples
    --------
    >>> texts = ("c = f(x[:, i])\n    out.append(c * c)", "h = cell(x[:, i], h)", "total += x[i]", "out.append(h(x))")
    >>> [goes_through_slices(ast.parse(f"for i in range(n):\n    {text}").body[0]) for text in texts]
    [True, False, False, False]
    """
    if not isinstance(loop, ast.For):
        return False
    numbers = set(_parts(loop.target))
    sliced = (node for node in ast.walk(loop) if isinstance(node, ast.Subscript) and numbers & names_in(node, ast.Load))
    stored, made = names_in(loop, ast.Store), numbers
    for statement in loop.body:
        if isinstance(statement, ast.AugAssign) or not isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign):
            return False
        if (names_in(statement, ast.Load) & stored) - made:
            return False
        made = made | names_in(statement, ast.Store)
    return any(sliced)


def element_read(code: Code, file: str, line: int) -> ElementRead | None:
    r"""Return what a line reads element by element, if the whole tensor is there before the loop.

    Examples
    --------
    >>> code = Code({"cell": "for i in range(9):\n    best = pick(i)\n    out.append(float(t[i]) + float(best[i]))"})
    >>> element_read(code, "cell", 3)
    ElementRead(tensor='t', read='float(t[i])', line=1, change='t = t.numpy()\nfor i in range(9):')
    >>> element_read(Code({"cell": "rows = [t[i].numpy() for i in range(9)]"}), "cell", 1).change
    't_values = t.numpy()\nrows = [t_values[i] for i in range(9)]'
    """
    statement = code.statement(file, line)
    if statement is None:
        return None
    for comprehension in (node for node in ast.walk(statement) if isinstance(node, _COMPREHENSIONS)):
        stored = {name for part in comprehension.generators for name in _parts(part.target)}
        for call, element in _reads(comprehension, stored):
            return _of_comprehension(code, file, statement, call, element)
    loop = code.loop(file, line)
    if loop is None:
        return None
    stored = names_in(loop, ast.Store)
    for call, element in _reads(statement, stored):
        tensor = ast.unparse(element.value)
        hoisted = _is_conversion(call) and isinstance(element.value, ast.Name)
        change = f"{tensor} = {tensor}.numpy()\n{code.line(file, loop.lineno)}" if hoisted else ""
        return ElementRead(tensor, ast.unparse(call), loop.lineno, change)
    return None


def collected(code: Code, file: str, line: int) -> list[str]:
    r"""Return the lists that a line gives to calls as a whole, and to which the loop around it adds in each pass.

    Examples
    --------
    >>> text = "for x in data:\n    seen.append(f(x))\n    best.append(max(np.concatenate(seen)))\n    print(seen[-1])"
    >>> [collected(Code({"cell": text}), "cell", line) for line in (2, 3, 4)]
    [[], ['seen'], []]
    >>> text = "class Log:\n def add(self, x):\n  self.x.append(x)\n def mean(self):\n  return np.mean(self.x)"
    >>> code = Code({"In[1]": text, "cell": "for x in data:\n    log.add(x)\n    log.mean()"})
    >>> collected(code, "cell", 3)
    ['log.x']
    """
    loop, statement = code.loop(file, line), code.statement(file, line)
    if loop is None or statement is None:
        return []
    extended = {owner for method in ("append", "extend") for owner in _owners(loop, method)}
    emptied = {owner for method in ("clear", "pop", "popleft") for owner in _owners(loop, method)}
    some = {ast.unparse(part) for call in calls_in(statement) if _takes_some(call) for part in arguments(call)}
    given = {ast.unparse(part) for call in calls_in(statement) for part in arguments(call)}
    for owner, method in _methods(code, file, loop):
        extended |= {_of(owner, one) for name in ("append", "extend") for one in _owners(method, name)}
        emptied |= {_of(owner, one) for name in ("clear", "pop", "popleft") for one in _owners(method, name)}
    for owner, method in _methods(code, file, statement):
        given |= {_of(owner, ast.unparse(part)) for call in calls_in(method) for part in arguments(call)}
    return sorted((extended & given) - emptied - names_in(loop, ast.Store) - some)


def _methods(code: Code, file: str, node: ast.stmt) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the methods that code calls of objects of the program's classes, with what stands before each."""
    for call in calls_in(node):
        if isinstance(call.func, ast.Attribute) and (found := code.defined(file, call.func)):
            yield ast.unparse(call.func.value), found[1]


def _of(owner: str, text: str) -> str:
    """Return what a method calls ``self.x`` as the code outside does."""
    return f"{owner}.{text.removeprefix('self.')}" if text.startswith("self.") else ""


def _owners(node: ast.stmt, method: str) -> set[str]:
    """Return the objects of which code calls a method."""
    called = [call.func for call in calls_in(node)]
    return {ast.unparse(one.value) for one in called if isinstance(one, ast.Attribute) and one.attr == method}


def _takes_some(call: ast.Call) -> bool:
    """Whether a call does not go through all of a list that it is given."""
    return name_of(call.func) in ("len", "sample", "choice", "choices", "append", "isinstance")


def keepers(code: Code) -> Iterator[tuple[str, int]]:
    r"""Yield the lines of loops and functions that store an object in a list, a dictionary or a set, by its name.

    What is stored must be made in the same loop, or given to the function; functions that become graphs keep nothing.

    Examples
    --------
    >>> text = "for x in data:\n    out = net(x)\n    seen[x] = out\n    n.append(float(out))\n    last = out"
    >>> list(keepers(Code({"cell": text})))
    [('cell', 3)]
    """
    for file in code.files:
        graphs = [
            function
            for function in code.nodes(file, ast.FunctionDef)
            if any(map(_makes_graph, function.decorator_list))
        ]
        for statement in code.nodes(file, ast.stmt):
            value = _kept(statement)
            if value is None or any(one.lineno <= statement.lineno <= (one.end_lineno or 0) for one in graphs):
                continue
            made_here = _calls_for_object(value) and code.in_loop(file, statement.lineno)
            if made_here or _named(value) & _made_around(code, file, statement.lineno):
                yield file, statement.lineno


def _makes_graph(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).startswith(("tf.function", "function", "tensorflow.function"))


def _kept(statement: ast.stmt) -> ast.expr | None:
    """Return what a statement stores where objects stay."""
    if isinstance(statement, ast.Assign):
        return statement.value if isinstance(statement.targets[0], ast.Subscript) else None
    if isinstance(statement, ast.AugAssign):
        return statement.value if isinstance(statement.value, ast.List) else None
    call = statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr not in _STORING or not call.args:
        return None
    return call.args[-1]


def _calls_for_object(value: ast.expr) -> bool:
    """Whether a value is what a call returns, other than a number or a text."""
    called = name_of(value.func) if isinstance(value, ast.Call) else ""
    return bool(called) and called not in _GIVING_NUMBERS


def _named(value: ast.expr) -> set[str]:
    """Return the names of objects that are stored as they are, by themselves or in a tuple, a list or a dictionary."""
    if isinstance(value, ast.Tuple | ast.List):
        return {name for each in value.elts for name in _named(each)}
    if isinstance(value, ast.Dict):
        return {name for each in value.values for name in _named(each)}
    return {value.id} if isinstance(value, ast.Name) else set()


def _made_around(code: Code, file: str, line: int) -> set[str]:
    """Return the names that the loop around a line assigns from calls, and what its function is given."""
    loop, function = code.loop(file, line), code.function(file, line)
    given = {argument.arg for argument in function.args.args} if function else set[str]()
    made = [one for one in _assignments(loop) if one.value is not None and any(calls_in(one.value))] if loop else []
    return given | {name for one in made for target in _targets(one) for name in _parts(target)}


def _of_comprehension(
    code: Code, file: str, statement: ast.stmt, call: ast.Call, element: ast.Subscript
) -> ElementRead:
    tensor, read, text = ast.unparse(element.value), ast.unparse(call), code.line(file, statement.lineno)
    values = f"{tensor.replace('.', '_')}_values"
    found = f"{values}[{ast.unparse(element.slice)}]"
    plain = isinstance(element.value, ast.Name) and not isinstance(statement, ast.For | ast.While | ast.Return)
    one_line = statement.lineno == statement.end_lineno and text.count(read) == 1 and plain
    new = text.replace(read, f"{call.func.id}({found})" if isinstance(call.func, ast.Name) else found)
    return ElementRead(tensor, read, statement.lineno, f"{values} = {tensor}.numpy()\n{new}" if one_line else "")


def _reads(node: ast.AST, stored: set[str]) -> Iterator[tuple[ast.Call, ast.Subscript]]:
    """Yield the calls that read an element of what is there before the loop, at an index that the loop makes."""
    for call in calls_in(node):
        element = call.args[0] if _is_conversion(call) and call.args else _numpy_of(call)
        if (
            isinstance(element, ast.Subscript)
            and not stored & _read(element.value)
            and stored & _read(element.slice)
            and not any(calls_in(element.value))
        ):
            yield call, element


def _is_conversion(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in _CONVERSIONS


def _numpy_of(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "numpy" else None


def _assignments(loop: ast.stmt) -> Iterator[ast.Assign | ast.AnnAssign]:
    return (node for node in ast.walk(loop) if isinstance(node, ast.Assign | ast.AnnAssign))


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def _parts(target: ast.expr) -> Iterator[str]:
    """Yield the names and attributes that are assigned."""
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _parts(each)
    elif isinstance(target, ast.Name | ast.Attribute):
        yield ast.unparse(target)


def _read(node: ast.AST) -> set[str]:
    """Return the names and attributes that code reads."""
    return {ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}
