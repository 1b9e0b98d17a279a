"""The one way of a change to the user: only code that was put into the program's text, and checked there, is shown.

What is checked:

- the whole text with the change in its place is a program, and means the same elsewhere (`changed_text`);
- the code has the indentation of the file, and what it imports stands at the top;
- each name that it brings is bound there, and a module is the one that the rule means;
- where the capture recorded what names stand for, methods of models and datasets are called on such;
- it gives no argument the value that it has anyway;
- it gives `predict` and `evaluate` no other order and no fewer rows, keeps nothing that is drawn anew each time, and
  mixes no batches where single examples were mixed.

Captures of older versions do not tell what names stand for. There, rules have the recorded stacks and the lines of
ops to go by, and names must be bound by the program's text.
"""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Finding
from tfprof_nb.analysis.source.caching import with_called
from tfprof_nb.analysis.source.changed_text import ChangedText, changed_text, reindented, split_imports
from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.source.pipelines import is_dataset
from tfprof_nb.analysis.source.syntax import (
    FUNCTIONS,
    bound_by,
    calls_in,
    chain,
    first_given,
    holds,
    name_of,
    names_of_scope,
    parsed,
)

Part = TypeVar("Part", bound=ast.expr)
# How rules call modules, and the modules.
_MODULES = {"tf": "tensorflow", "np": "numpy", "keras": "keras", "functools": "functools"}
_IMPORTS = {
    "tf": "import tensorflow as tf",
    "np": "import numpy as np",
    "keras": "import keras",
    "functools": "import functools",
}
_TESTING = ("predict", "evaluate")
_BATCHED = ("batch", "padded_batch", "ragged_batch", "window", "group_by_window", "bucket_by_sequence_length")
# On what methods that rules write are called.
_OWNERS = {
    **dict.fromkeys(("fit", "train_on_batch", "predict_on_batch", "test_on_batch", *_TESTING), "model"),
    **dict.fromkeys((*_BATCHED, "cache", "shuffle", "prefetch", "with_options", "interleave", "unbatch"), "dataset"),
}
# What these are given: neither has a first axis of examples.
_NO_ARRAYS = ("dataset", "generator", "iterator", "keras dataset", "function", "model")
_DEFAULTS = {
    ("TensorBoard", "update_freq", "'epoch'"),
    ("TensorBoard", "histogram_freq", "0"),
    ("ModelCheckpoint", "save_freq", "'epoch'"),
    ("BackupAndRestore", "save_freq", "'epoch'"),
    ("fit", "batch_size", "32"),
    ("evaluate", "batch_size", "32"),
    ("predict", "batch_size", "32"),
    ("compile", "run_eagerly", "False"),
    ("shuffle", "reshuffle_each_iteration", "True"),
    ("batch", "drop_remainder", "False"),
    ("map", "num_parallel_calls", "None"),
}
_CHANCE = re.compile(r"\brandom|\brand(?:n|int)?\(|\brng\b|default_rng|permutation")
_IN_PYTHON = ("numpy_function", "py_function")


def checked(evidence: Evidence, finding: Finding) -> Finding:
    """Return a finding whose change was checked; one whose change does not hold has only words.

    Parameters
    ----------
    evidence
        What the profile tells, with the program's text.
    finding
        A finding, with the place as `Evidence.code` names it.
    """
    if not finding.change:
        return finding
    code, (file, line) = evidence.code, line_at(finding.place)
    change, why_not = checked_change(code, file, line, finding.change)
    fix = finding.without_change if why_not and finding.without_change else finding.fix
    return replace(finding, change=change, fix=fix)


def checked_change(code: Code, file: str, line: int, change: str) -> tuple[str, str]:
    r"""Return a change as it is shown, and an empty text; or why it is not shown.

    Imports that the place lacks stand before the code: they go to the top of the file.

    Examples
    --------
    >>> code = Code({"cell": "def f(x):\n\treturn x\nds = ds.map(f)"})
    >>> checked_change(code, "cell", 3, "ds = ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)")
    ('import tensorflow as tf\nds = ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)', '')
    >>> checked_change(code, "cell", 3, "ds = ds.map(g)")
    ('', '`g` is not bound there')
    """
    text = code.text(file)
    if not text:
        return "", "the text of the program is not known"
    _, rest = split_imports(change)
    put = changed_text(text, line, change)
    if put.why_not:
        return "", put.why_not
    lacking, why_not = _unbound(code, file, line, put)
    if lacking:
        put = changed_text(text, line, "\n".join([*lacking, change]))
        change = "\n".join([*lacking, change])
    why_not = put.why_not or why_not or next(_why_harmful(code, file, line, put), "")
    if why_not:
        return "", why_not
    imports = split_imports(change)[0]
    return "\n".join(filter(None, [imports, reindented(text, line, rest)])), ""


def _unbound(code: Code, file: str, line: int, put: ChangedText) -> tuple[list[str], str]:
    """Return the imports that a change needs, and why one of its names does not fit; empty where all do."""
    tree = parsed(put.text)
    before = {one.id for one in _within(parsed(code.text(file)), line, line + put.replaced - 1, ast.Name)}
    loads = [one for one in _within(tree, put.first, put.last, ast.Name) if isinstance(one.ctx, ast.Load)]
    imports = dict[str, None]()
    for one in loads:
        if one.id in before or hasattr(builtins, one.id):
            continue
        known, module = code.global_object(file, one.id), _MODULES.get(one.id)
        bound = _is_bound_in(tree, one) or any(one.id in names for names in _bound_elsewhere(code, file))
        if module and known is not None and not (known.kind == "module" and _is_module(known.type, module)):
            return [], f"`{one.id}` is not {module} there"
        if module and known is None and bound and _imports_other(code, file, one.id, module):
            return [], f"`{one.id}` is not {module} there"
        if known is None and not bound:
            if module is None:
                return [], f"`{one.id}` is not bound there"
            imports[_IMPORTS[one.id]] = None
    return [*imports], ""


def _is_module(name: str, module: str) -> bool:
    r"""Whether a module is the one that rules mean: TensorFlow has Keras too, and an older form of itself.

    Examples
    --------
    >>> [_is_module(*names) for names in (("tensorflow", "tensorflow"), ("tensorflow.compat.v1", "tensorflow"))]
    [True, False]
    >>> _is_module("tensorflow.keras", "keras"), _is_module("tensorflow._api.v2.keras", "keras")
    (True, True)
    """
    parts = name.split(".")
    return parts[-1] == module or (module in ("tensorflow", "numpy") and parts[0] == module and "v1" not in parts)


def _imports_other(code: Code, file: str, name: str, module: str) -> bool:
    """Whether the files that share their names bind a name of a module to something else, as their texts show it."""
    for other in _sharing(code, file):
        for node in ast.walk(code.syntax(other)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                said = [one.name for one in node.names if (one.asname or one.name.partition(".")[0]) == name]
                origin = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                if said:
                    return not any(_is_module(f"{origin}{one}", module) for one in said)
            elif name in bound_by(node):
                return True
    return False


def _is_bound_in(tree: ast.Module, name: ast.Name) -> bool:
    """Whether the file itself binds a name that is read in it: in a function around, or at the top before."""
    functions = [node for kind in FUNCTIONS for node in ast.walk(tree) if isinstance(node, kind)]
    around = [one for one in functions if one.lineno < name.lineno and holds(one, name.lineno)]
    lambdas = [one for one in functions if isinstance(one, ast.Lambda) and holds(one, name.lineno)]
    if any(name.id in names_of_scope(one) for one in [*around, *lambdas]):
        return True
    inner = [node for node in ast.walk(tree) if isinstance(node, ast.comprehension)]
    if any(name.id in {part.id for part in ast.walk(one.target) if isinstance(part, ast.Name)} for one in inner):
        return True
    until = 10**9 if around else name.lineno
    return any(name.id in bound for at, bound in _bound_at_top(tree) if at < until)


def _bound_at_top(tree: ast.Module) -> Iterator[tuple[int, set[str]]]:
    """Yield what the file binds outside of functions and classes, with the lines."""
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        one = waiting.pop()
        yield getattr(one, "lineno", 0), bound_by(one)
        if not isinstance(one, (*FUNCTIONS, ast.ClassDef, ast.comprehension)):
            waiting += ast.iter_child_nodes(one)


def _bound_elsewhere(code: Code, file: str) -> Iterator[set[str]]:
    """Yield what other cells bind, if the place is in one."""
    for other in _sharing(code, file)[1:]:
        yield from (bound for _, bound in _bound_at_top(code.syntax(other)))


def _sharing(code: Code, file: str) -> list[str]:
    """Return a file, and if it is a cell all others."""
    cells = [one for one in code.files if one == "cell" or one.startswith("In[")]
    return [file, *(one for one in cells if one != file and file in cells)]


def _why_harmful(code: Code, file: str, line: int, put: ChangedText) -> Iterator[str]:
    """Yield why code that fits into its place must not stand there."""
    old, new = parsed(code.text(file)), parsed(put.text)
    before = list(_within(old, line, line + put.replaced - 1, ast.Call))
    after = list(_within(new, put.first, put.last, ast.Call))
    known = {ast.dump(call) for call in before}
    written = [call for call in after if ast.dump(call) not in known]
    yield from _of_other_objects(code, file, line, written)
    given = {(name_of(call.func), keyword.arg) for call in before for keyword in call.keywords}
    for call in written:
        for one in call.keywords:
            argument = name_of(call.func), one.arg
            if argument not in given and (*argument, ast.unparse(one.value)) in _DEFAULTS:
                yield f"{one.arg}={ast.unparse(one.value)} is in force already"
    yield from _of_pipelines(code, file, new, before, written)


def _of_other_objects(code: Code, file: str, line: int, written: Iterable[ast.Call]) -> Iterator[str]:
    """Yield which objects are not those that methods of the change are called on, or given."""
    for call in written:
        method = name_of(call.func)
        if method not in _OWNERS or not isinstance(call.func, ast.Attribute):
            continue
        owner = code.object_at(file, line, call.func.value)
        if owner is not None and owner.kind != _OWNERS[method]:
            yield f"`{ast.unparse(call.func.value)}` is no {_OWNERS[method]}"
        if method.endswith("_on_batch"):
            for one in call.args[:1]:
                data = code.object_at(file, line, one)
                if (data is not None and data.kind in _NO_ARRAYS) or (data is None and is_dataset(code, file, one)):
                    yield f"`{ast.unparse(one)}` is no array"


def _of_pipelines(
    code: Code, file: str, new: ast.Module, before: list[ast.Call], written: list[ast.Call]
) -> Iterator[str]:
    """Yield what a change of a pipeline would do to what it gives."""
    methods = [name_of(call.func) for call in before]
    added = [call for call in written if name_of(call.func) not in methods or name_of(call.func) == "shuffle"]
    mixes = any(name_of(call.func) == "shuffle" for call in added) and "shuffle" not in methods
    drops = any(_drops(call) for call in written) and not any(map(_drops, before))
    if (mixes or drops) and _is_tested_with(code, new, written):
        yield "predict or evaluate would get other rows, or another order"
    for call in added:
        if name_of(call.func) == "cache":
            making = [part for part in chain(call) if name_of(part.func) in ("map", "from_generator")]
            given = [argument for part in making for argument in part.args]
            if any(_may_draw(code, file, one) for one in given):
                yield "what is drawn at random would be kept"
    if _mixes_batches(written) and not _mixes_batches(before):
        yield "the shuffle would mix batches, and not examples"


def _drops(call: ast.Call) -> bool:
    return any(keyword.arg == "drop_remainder" and ast.unparse(keyword.value) == "True" for keyword in call.keywords)


def _is_tested_with(code: Code, tree: ast.Module, written: list[ast.Call]) -> bool:
    """Whether what a change makes goes into `predict` or `evaluate`: at once, or by the name that it is given."""
    lines = [call.lineno for call in written]
    statements = [
        node for node in ast.walk(tree) if isinstance(node, ast.Assign) and any(holds(node, at) for at in lines)
    ]
    targets = [target for one in statements for target in one.targets]
    names = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    for other in (tree, *(code.syntax(file) for file in code.files)):
        for call in (call for call in ast.walk(other) if isinstance(call, ast.Call) and name_of(call.func) in _TESTING):
            parts = [part for one in [*call.args, *(each.value for each in call.keywords)] for part in ast.walk(one)]
            if any(part.id in names for part in parts if isinstance(part, ast.Name)):
                return True
            if other is tree and any(part in written for part in parts):
                return True
    return False


def _mixes_batches(calls: Iterable[ast.Call]) -> bool:
    shuffles = [call for call in calls if name_of(call.func) == "shuffle"]
    return any(name_of(part.func) in _BATCHED for call in shuffles for part in chain(call))


def _may_draw(code: Code, file: str, given: ast.expr) -> bool:
    """Whether what a stage calls may draw at random, as texts show; Python without one may."""
    for one in with_called(code, file, ast.Expr(given)):
        in_python = [call for call in calls_in(one) if name_of(call.func) in _IN_PYTHON]
        unseen = [call for call in in_python if not _is_seen(code, file, first_given(call))]
        if unseen or _CHANCE.search(ast.unparse(one)):
            return True
    return False


def _is_seen(code: Code, file: str, given: ast.expr | None) -> bool:
    return isinstance(given, ast.Lambda) or (given is not None and code.defined(file, given) is not None)


def _within(tree: ast.Module, first: int, last: int, kind: type[Part]) -> Iterator[Part]:
    """Yield the expressions of a kind in some lines; a call stands where its function's name does."""
    for one in ast.walk(tree):
        if isinstance(one, kind):
            at = one.func.end_lineno if isinstance(one, ast.Call) else one.lineno
            if first <= (at or 0) <= last:
                yield one
