"""The shape of the tree: files stay small enough to read, names say what is in them."""

import ast

import pytest

MAX_LINES = 450
VAGUE = {"utils", "helpers", "common", "misc", "util", "helper"}


@pytest.fixture(scope="module")
def sources(root):
    folders = ["tfprof_nb", "tests", "benchmarks", "notebooks", "js/src"]
    found = [path for folder in folders for kind in ("*.py", "*.ts") for path in (root / folder).rglob(kind)]
    assert found
    return found


def test_no_file_is_long(sources, root):
    lengths = {str(path.relative_to(root)): len(path.read_text(encoding="utf-8").splitlines()) for path in sources}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES} == {}


def test_file_names_say_what_is_inside(sources):
    assert [path.name for path in sources if path.stem in VAGUE] == []


def test_every_module_says_what_it_is(root):
    modules = list((root / "tfprof_nb").rglob("*.py"))
    assert [str(path) for path in modules if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize("lock", ["requirements.lock", "js/package-lock.json"])
def test_locks_name_no_registry(root, lock):
    text = (root / lock).read_text(encoding="utf-8")
    assert "--index-url" not in text
    assert '"resolved"' not in text
    assert "--hash=sha256:" in text or '"integrity"' in text
