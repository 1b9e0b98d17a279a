"""Where a cell takes its batches from: expressions of its code that may be datasets."""

import ast
from collections.abc import Iterator, Sequence

from tfprof_nb.analysis.source.syntax import parsed

_FITS = ("fit", "evaluate", "predict")
_PASSES_ON = ("iter", "enumerate", "tqdm")
_WITH_OWN_VARIABLES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def dataset_expressions(text: str) -> tuple[list[str], list[str]]:
    """Return what a cell passes to ``fit``, and what else it names that may be a dataset, the likeliest first.

    Functions and classes of the cell are left out: their variables are not the notebook's.

    Examples
    --------
    >>> dataset_expressions("model.fit(train.repeat(), epochs=2)")
    (['train.repeat()'], ['train', 'model'])
    >>> dataset_expressions("for epoch in range(3):  step(next(iter(data)))")
    ([], ['data', 'iter', 'next', 'range', 'step'])
    """
    try:
        return _expressions(list(_outside_of_functions(parsed(text))))
    except RecursionError:  # of code that no person wrote
        return [], []


def _expressions(nodes: Sequence[ast.AST]) -> tuple[list[str], list[str]]:
    fitted = _of_variables(given for node in nodes if (given := _fitted(node)))
    looped = _of_variables(over for node in nodes if (over := _looped_over(node)))
    names = sorted({node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)})
    others = dict.fromkeys([*map(root_of, fitted), *reversed(looped), *names])
    return fitted, [one for one in others if one not in fitted]


def root_of(expression: str) -> str:
    """Return what the methods of an expression are called on.

    Examples
    --------
    >>> root_of("splits['train'].batch(8).prefetch(2)")
    "splits['train']"
    """
    return ast.unparse(_root(ast.parse(expression, mode="eval").body))


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node


def _outside_of_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _WITH_OWN_VARIABLES):
            yield from _outside_of_functions(child)


def _fitted(node: ast.AST) -> ast.expr | None:
    """Return what a call gives to ``fit``; None if it gives arrays, x and y."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FITS):
        return None
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    return None if len(node.args) > 1 or "y" in given else node.args[0] if node.args else given.get("x")


def _looped_over(node: ast.AST) -> ast.expr | None:
    if isinstance(node, (ast.For, ast.comprehension)):
        return node.iter
    passes_on = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PASSES_ON
    return node.args[0] if passes_on and isinstance(node, ast.Call) and node.args else None


def _of_variables(nodes: Iterator[ast.expr]) -> list[str]:
    """Write the expressions that begin with a variable; not what a function returns: it would run again."""
    return list(dict.fromkeys(ast.unparse(node) for node in nodes if _begins_with_variable(node)))


def _begins_with_variable(node: ast.expr) -> bool:
    root = _root(node)
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return isinstance(root, ast.Name)
