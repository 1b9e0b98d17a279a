"""The whole text of a file or cell with a finding's change in its place."""

import ast
import io
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tfprof_nb.analysis.source.syntax import python_of

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NO_PYTHON = "the text is no Python"


class ChangedText(NamedTuple):
    """A text with a change in it, the lines of the change there, and how many it replaced; or why it has no place."""

    text: str
    why_not: str = ""
    first: int = 0
    last: int = 0
    replaced: int = 0


class _Part(NamedTuple):
    """A statement without the statements in it: its lines, how deep it stands, and what it is."""

    first: int
    last: int
    depth: int
    code: str


def changed_text(text: str, line: int, change: str) -> ChangedText:
    r"""Put a finding's change into the text of its file or cell.

    Parameters
    ----------
    text
        The whole text; a cell's with its magics.
    line
        The line that the finding's place names, from 1.
    change
        Code for that line, or for the call or function that begins there. Imports before it go to the top. Of a
        function whose own statements it lacks, it is the beginning.

    Returns
    -------
    ChangedText
        The text, in the indentation of its own; or why the change has no place there.

    Examples
    --------
    >>> change = "def f(self, n):\n    if n % 5:\n        return"
    >>> print(changed_text("class A(B):\n  def f(self, n):\n    work()", 2, change).text)
    class A(B):
      def f(self, n):
        if n % 5:
          return
        work()
    >>> print(changed_text("%%tfprofile\nx = 1\nf(\n  x)", 3, "import g\ng.f(x, 2)").text)
    %%tfprofile
    import g
    x = 1
    g.f(x, 2)
    >>> changed_text("f(x)", 1, "f(x)").why_not
    'the code stands there already'
    """
    lines, old = _LINE.findall(text), _tree(text)
    if old is None:
        return ChangedText("", _NO_PYTHON)
    if not 0 < line <= len(lines):
        return ChangedText("", f"the text has no line {line}")
    imports, code = split_imports(change)
    if not code.strip():
        return ChangedText("", "there is no code to put there")
    indent = re.match(r"[ \t\f]*", lines[line - 1])
    put = _indented(code, indent[0] if indent else "", _unit(old, lines, line))
    same = False
    for count in _extents(old, line, code):
        end = re.search(r"[\r\n]*$", lines[line + count - 2])
        put[-1] = put[-1].rstrip("\r\n") + (end[0] if end else "")
        changed = "".join([*lines[: line - 1], *put, *lines[line - 1 + count :]])
        new = _tree(changed)
        if new is None or not _is_same_elsewhere(old, new, line, count, len(put), code):
            continue
        if ast.dump(new) == ast.dump(old):
            same = True
            continue
        whole, above = _with_imports(changed, new, imports)
        if (why := _why_not_compiled(whole)) and not _why_not_compiled(text):
            return ChangedText("", why)
        return ChangedText(whole, "", line + above, line + above + len(put) - 1, count)
    return ChangedText("", "the code stands there already" if same else f"the code does not fit into line {line}")


def reindented(text: str, line: int, code: str) -> str:
    r"""Return code for a line in the indentation of the text, without that of the line itself.

    Examples
    --------
    >>> reindented("if x:\n  f()", 2, "for k in x:\n    f(k)")
    'for k in x:\n  f(k)'
    """
    tree = _tree(text)
    unit = _unit(tree, _LINE.findall(text), line) if tree else "    "
    return "".join(_indented(code, "", unit)).rstrip("\n")


def split_imports(change: str) -> tuple[str, str]:
    r"""Return the imports with which a change begins, which go to the top, and the code for its place.

    Examples
    --------
    >>> split_imports("import functools\n@functools.cache\ndef f(self):")
    ('import functools', '@functools.cache\ndef f(self):')
    """
    lines = change.splitlines()
    count = next((k for k, one in enumerate(lines) if not re.match(r"(?:import|from) ", one)), len(lines))
    return "\n".join(lines[:count]), "\n".join(lines[count:])


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(python_of(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _why_not_compiled(text: str) -> str:
    """Return why a text that parses is no program, such as a ``return`` outside of functions; else an empty text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(python_of(text), "<change>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return str(getattr(error, "msg", error))
    return ""


def _extents(tree: ast.Module, line: int, code: str) -> list[int]:
    """Return how many lines the code may replace, the likeliest first."""
    complete, head = _tree(code), _tree(f"{code}\n    pass") or _tree(f"{code} pass")
    beginning = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and line in (node.lineno, _first(node))]
    statement = max(beginning, key=lambda one: one.end_lineno or 0, default=None)
    body = getattr(statement, "body", None)
    if statement is not None and body and complete:
        last = complete.body[-1] if complete.body else None
        if isinstance(statement, _DEFINITIONS) and isinstance(last, _DEFINITIONS) and last.name == statement.name:
            own = {
                ast.dump(node) for node in ast.walk(statement) if isinstance(node, ast.stmt) and node is not statement
            }
            whole = any(ast.dump(node) in own for node in ast.walk(last) if isinstance(node, ast.stmt))
            return [(statement.end_lineno or line) - line + 1 if whole else _first(body[0]) - line]
    if statement is not None and body and head and not complete:
        return [max(_first(body[0]) - line, 1)]
    if statement is not None and not body and complete:
        return [(statement.end_lineno or line) - line + 1]
    calls = (call for call in ast.walk(tree) if isinstance(call, ast.Call) and call.func.end_lineno == line)
    return sorted({1, *((one.end_lineno or line) - line + 1 for one in calls)})


def _first(statement: ast.stmt) -> int:
    """Return the first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _is_same_elsewhere(old: ast.Module, new: ast.Module, line: int, count: int, put: int, code: str) -> bool:
    """Whether all but the replaced lines mean what they meant, and at most one statement of these is gone."""
    before, after = list(_parts(old)), list(_parts(new))
    kept = [(one.depth, one.code) for one in before if one.last < line or one.first >= line + count]
    still = [(one.depth, one.code) for one in after if one.last < line or one.first >= line + put]
    gone = Counter(one.code for one in before) - Counter(one.code for one in after)
    replaces_function = any(
        isinstance(node, _DEFINITIONS) and _first(node) <= line and line + count - 1 >= (node.end_lineno or 0) > line
        for node in ast.walk(old)
    )
    return kept == still and (replaces_function or sum(gone.values()) <= 1) and bool(code)


def _parts(tree: ast.AST, depth: int = 0) -> Iterator[_Part]:
    for name in _BLOCKS:
        for one in getattr(tree, name, None) or ():
            if not isinstance(one, ast.stmt):  # a handler, or a case
                yield from _parts(one, depth + 1)
                continue
            within = [part for block in _BLOCKS for part in getattr(one, block, None) or ()]
            starts = [_first(part) for part in within if isinstance(part, ast.stmt)]
            last = max(one.lineno, min(starts) - 1) if starts else one.lineno if within else one.end_lineno or 0
            own = {key: value for key, value in ast.iter_fields(one) if key not in _BLOCKS}
            shown = [ast.dump(part) for value in own.values() for part in _nodes(value)]
            plain = [str(value) for value in own.values() if isinstance(value, str | int)]
            yield _Part(_first(one), last, depth, "\n".join([type(one).__name__, *plain, *shown]))
            yield from _parts(one, depth + 1)


def _nodes(value: object) -> list[ast.AST]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, ast.AST)]


def _unit(tree: ast.Module, lines: list[str], line: int) -> str:
    """Return one level of the text's own indentation, of the innermost block around a line if there is one."""
    units: list[tuple[int, str]] = []
    for one in ast.walk(tree):
        body = getattr(one, "body", None)
        if not isinstance(one, ast.stmt) or not isinstance(body, list) or not body or _first(body[0]) <= one.lineno:
            continue
        outer, inner = (lines[part.lineno - 1][: part.col_offset] for part in (one, body[0]))
        if inner.startswith(outer) and not inner.strip():
            near = _first(one) <= line <= (one.end_lineno or 0)
            units.append((one.lineno if near else -abs(one.lineno - line), inner[len(outer) :]))
    return max(units, default=(0, "    "))[1]


def _indented(code: str, indent: str, unit: str) -> list[str]:
    """Return code as lines at a depth, with a text's own unit; lines of texts in it stay as they are."""
    lines = [f"{one}\n" for one in code.rstrip("\n").split("\n")]
    levels, fixed = _levels(lines)
    out = []
    for number, line in enumerate(lines, 1):
        level = levels.get(number)
        body = line if level is None else unit * level + line.lstrip(" \t")
        out.append(line if number in fixed or not line.strip() else indent + body)
    return out


def _levels(lines: list[str]) -> tuple[dict[int, int], set[int]]:
    """Return how deep each line of code that begins a statement stands, and the lines that begin inside of a text."""
    levels, fixed, level, begins = dict[int, int](), set[int](), 0, True
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(lines)).readline):
            if token.type == tokenize.INDENT:
                level += 1
            elif token.type == tokenize.DEDENT:
                level -= 1
            elif token.type == tokenize.NEWLINE:
                begins = True
            elif token.type not in (tokenize.NL, tokenize.COMMENT):
                if begins:
                    levels[token.start[0]] = level
                begins = False
                if token.type == tokenize.STRING:
                    fixed.update(range(token.start[0] + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):  # a part of a call, such as `.batch(8)` or a line that opens a bracket
        pass
    return levels, fixed


def _with_imports(text: str, tree: ast.Module, imports: str) -> tuple[str, int]:
    """Return a text with the imports that it lacks where its first import stands, or at its top; and their number."""
    there = {ast.dump(statement) for statement in tree.body}
    missing = [one for one in imports.splitlines() if ast.dump(ast.parse(one).body[0]) not in there]
    if not missing:
        return text, 0
    own = [statement for statement in tree.body if not _must_be_first(statement)]
    imported = [one for one in own if isinstance(one, ast.Import | ast.ImportFrom)]
    at = _first((imported or own)[0]) - 1
    lines = _LINE.findall(text)
    return "".join([*lines[:at], *(f"{one}\n" for one in missing), *lines[at:]]), len(missing)


def _must_be_first(statement: ast.stmt) -> bool:
    future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    return future or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
