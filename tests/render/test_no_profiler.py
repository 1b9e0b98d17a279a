"""Drawing knows no profiler: what a column or a name means is what views say."""

import ast
import re

import pytest

# Names of results' columns, of frameworks, and what TensorFlow writes into names. Steps, ops and times in picoseconds
# are what panels select and timelines have.
PROFILERS = re.compile(r"op_name|op_type|PartitionedCall|tensorflow|keras|warm.?up|[a-z]_(ms|us)$", re.IGNORECASE)


def words(code):
    """Yield the names and texts of code, docstrings aside."""
    tree = ast.parse(code)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and has_text(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                yield text
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name


def has_text(node):
    return bool(node.body) and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)


@pytest.mark.parametrize("code", ['x = frame["self_ms"]', "input_ms = 3", 'x = f"{y}/StatefulPartitionedCall"'])
def test_the_probe_sees_such_words(code):
    assert any(PROFILERS.search(word) for word in words(code))


def test_nothing_in_render_names_what_a_profiler_knows(root):
    files = {path: path.read_text(encoding="utf-8") for path in (root / "tfprof_nb" / "render").rglob("*.py")}
    found = {(str(path), word) for path, code in files.items() for word in words(code) if PROFILERS.search(word)}
    assert len(files) > 20
    assert found == set()
