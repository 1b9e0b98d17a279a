"""Code that keeps results: a pipeline's cache behind a map, the batches of a PyDataset; and a batch before a map."""

import ast
import re
import textwrap
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, calls_in, chain, name_of, offset

# In the text of code that may make another batch each time.
_CHANCE = re.compile(r"rand|rng|shuffle|permut|choice|sample\b|augment|jitter|noise", re.IGNORECASE)
# In the text of code that depends on what ran before, or may have no end.
_STATE = re.compile(r"\bnext\(|\bwhile\b|\bglobal\b|\bnonlocal\b|\bcycle\(|\btime\.time\(|\bself\.\w+ [-+*/]?= ")
# Methods of datasets that keep the elements single, and their number and order.
_ONE_BY_ONE = ("cache", "filter", "map", "prefetch", "shuffle", "with_options")
_GOING_THROUGH = ("__call__", "__iter__", "__next__", "__getitem__")


class CachedBehind(NamedTuple):
    """The line where a statement begins, its code with the cache behind a map, and what was moved there."""

    line: int
    change: str
    moved: list[str]


def cached_behind(code: Code, file: str, line: int) -> CachedBehind | None:
    r"""Return the statement of the map at a line with the cache, then the shuffles, behind the map.

    None if neither a cache nor a shuffle stands before the map in its chain of calls, a cache in a file does, or what
    the shuffle mixes becomes something else before the map, such as batches.

    Examples
    --------
    >>> text = "ds = files.cache().shuffle(9).map(read).batch(8)"
    >>> cached_behind(Code({"cell": text}), "cell", 1)
    CachedBehind(line=1, change='ds = files.map(read).cache().shuffle(9).batch(8)', moved=['.cache()', '.shuffle(9)'])
    >>> cached_behind(Code({"cell": "ds = files.shuffle(9).batch(8).map(read)"}), "cell", 1)
    """
    statement = code.statement(file, line)
    maps = [call for call in calls_in(statement) if call.func.end_lineno == line and _method(call) == "map"]
    if statement is None or len(maps) != 1:
        return None
    text = code.text(file)
    before = [*chain(maps[0])][::-1]
    caches = [call for call in before if _method(call) == "cache"]
    shuffles = [call for call in before if _method(call) == "shuffle"]
    if not (caches or shuffles) or any(call.args or call.keywords for call in caches):
        return None
    # Behind anything else, a shuffle mixes other elements: whole batches, or those of a part.
    behind_first = before[before.index(shuffles[0]) :] if shuffles else []
    if any(_method(call) not in _ONE_BY_ONE for call in behind_first):
        return None
    at = [_offsets(text, call) for call in (*caches, *shuffles)]
    begin, (start, end) = offset(text, statement.lineno, statement.col_offset), _offsets(text, maps[0])
    raw = text.encode()
    mapped = raw[start:end]
    cache = raw[slice(*at[0])] if caches else mapped[: mapped.index(b".")] + b".cache()"
    behind = cache + b"".join(raw[slice(*_offsets(text, call))] for call in shuffles)
    kept = b"".join(raw[i:j] for i, j in _between(begin, end, sorted(at)))
    rest = raw[end : offset(text, statement.end_lineno, statement.end_col_offset)]
    indent = b" " * statement.col_offset
    change = textwrap.dedent((indent + kept + behind + rest).decode())
    return CachedBehind(statement.lineno, change, [" ".join(raw[slice(*place)].decode().split()) for place in at])


def batched_before(code: Code, file: str, line: int) -> tuple[int, str] | None:
    r"""Return the line where the statement of the map at a line begins, and it with the map behind the batch.

    None if anything but a shuffle or a repeat stands between the two.

    Examples
    --------
    >>> text = "ds = files.map(read).shuffle(9).batch(8).prefetch(1)"
    >>> batched_before(Code({"cell": text}), "cell", 1)
    (1, 'ds = files.shuffle(9).batch(8).map(read).prefetch(1)')
    """
    statement, text = code.statement(file, line), code.text(file)
    calls = list(calls_in(statement))
    maps = [call for call in calls if call.func.end_lineno == line and _method(call) == "map"]
    batches = [call for call in calls if _method(call) == "batch" and maps and maps[0] in [*chain(call)]]
    if statement is None or len(maps) != 1 or len(batches) != 1:
        return None
    between = takewhile(lambda call: call is not maps[0], chain(batches[0]))
    if any(_method(call) not in ("shuffle", "repeat") for call in between):
        return None
    raw = text.encode()
    (start, end), (_, until) = _offsets(text, maps[0]), _offsets(text, batches[0])
    begin = offset(text, statement.lineno, statement.col_offset)
    rest = raw[until : offset(text, statement.end_lineno, statement.end_col_offset)]
    change = b" " * statement.col_offset + raw[begin:start] + raw[end:until] + raw[start:end] + rest
    return statement.lineno, textwrap.dedent(change.decode())


def kept_batches(code: Code, file: str, dataset: str) -> str:
    r"""Return the ``def`` of a PyDataset's ``__getitem__`` with a cache above; empty if epochs may get other batches.

    They may where the class has ``on_epoch_end``, where ``__getitem__`` stores something, and where chance is in the
    text of the class or of the functions that it calls.

    Examples
    --------
    >>> text = "class Rows(PyDataset):\n    def __getitem__(self, k):\n        return load(k)"
    >>> print(kept_batches(Code({"cell": text}), "cell", "Rows"))
    import functools
    @functools.cache
    def __getitem__(self, k):
    """
    owner = next((node for node in code.nodes(file, ast.ClassDef) if node.name == dataset), None)
    methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)} if owner else {}
    made = methods.get("__getitem__")
    if owner is None or made is None or made.decorator_list or "on_epoch_end" in methods:
        return ""
    stores = (node for node in ast.walk(made) if isinstance(node, ast.Attribute | ast.Subscript))
    if any(isinstance(node.ctx, ast.Store) and ast.unparse(node).startswith("self.") for node in stores):
        return ""
    if any(_CHANCE.search(ast.unparse(node)) for node in with_called(code, file, owner)):
        return ""
    definition = code.line(file, made.lineno)
    return f"import functools\n@functools.cache\n{definition}" if definition.endswith(":") else ""


def functions_of(code: Code, file: str, given: ast.expr) -> set[str]:
    """Return the names of a function that is passed on, and of all functions of the program that it uses."""
    return {node.name for node in with_called(code, file, ast.Expr(given)) if isinstance(node, ast.FunctionDef)}


def gives_the_same(code: Code, file: str, given: ast.expr) -> bool:
    r"""Whether a function that is passed on gives the same each time, as far as its text and what it uses show it.

    It may not where chance is in the text, where it takes the next of something, and where it may have no end.

    Examples
    --------
    >>> text = "def rows():\n    yield from load()\ndef load():\n    return np.random.rand(4)\ndef ones():\n    yield 1"
    >>> code = Code({"cell": text})
    >>> [gives_the_same(code, "cell", ast.parse(name, mode="eval").body) for name in ("rows", "ones", "unknown")]
    [False, True, False]
    """
    found = with_called(code, file, ast.Expr(given))
    known = len(found) > 1 or isinstance(given, ast.Lambda)
    texts = [ast.unparse(node) for node in found]
    return known and not any(_CHANCE.search(text) or _STATE.search(text) for text in texts)


def with_called(code: Code, file: str, node: ast.stmt) -> list[ast.stmt]:
    """Return code, and the definitions of all functions of the program that it calls or passes on, directly or not.

    Of an object whose class the program defines, these are the methods by which one goes through it.
    """
    found: list[ast.stmt] = [node]
    for one in found:  # which grows meanwhile
        used = [call.func for call in ast.walk(one) if isinstance(call, ast.Call) and name_of(call.func)]
        used += [name for name in ast.walk(one) if isinstance(name, ast.Name)]
        known = filter(None, (code.defined(file, function) for function in used))
        methods = _gone_through(code, file, used)
        found += dict.fromkeys(each for each in (*(each for _, each in known), *methods) if each not in found)
    return found


def _gone_through(code: Code, file: str, used: list[ast.expr]) -> Iterator[ast.FunctionDef]:
    """Return the methods that give the elements of objects, of classes that are called, or of whose names one was."""
    assigned = (node for node in code.nodes(file, ast.Assign) if isinstance(node.value, ast.Call))
    made = {assigned_name(node): name_of(node.value.func) for node in assigned if isinstance(node.value, ast.Call)}
    names = {made.get(name_of(one), name_of(one)) for one in used}
    for other in code.files:
        for owner in (node for node in code.nodes(other, ast.ClassDef) if node.name in names):
            yield from (
                statement
                for statement in owner.body
                if isinstance(statement, ast.FunctionDef) and statement.name in _GOING_THROUGH
            )


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _offsets(text: str, call: ast.Call) -> tuple[int, int]:
    """Return where the name of a method begins, with what stands before its dot, and where its call ends."""
    value = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return (offset(text, value.end_lineno, value.end_col_offset), offset(text, call.end_lineno, call.end_col_offset))


def _between(begin: int, end: int, left_out: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, stop in left_out:
        yield begin, start
        begin = stop
    yield begin, end
