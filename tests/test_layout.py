"""The shape of the tree: file names say what is inside, and locks name no registry."""

import pytest

VAGUE = {"utils", "helpers", "common", "misc", "util", "helper"}


@pytest.fixture(scope="module")
def sources(root):
    folders = ["tfprof_nb", "tests", "benchmarks", "notebooks", "js/src"]
    found = [path for folder in folders for kind in ("*.py", "*.ts") for path in (root / folder).rglob(kind)]
    assert found
    return found


def test_file_names_say_what_is_inside(sources):
    assert [path.name for path in sources if path.stem in VAGUE] == []


@pytest.mark.parametrize("lock", ["requirements.lock", "js/package-lock.json"])
def test_locks_name_no_registry(root, lock):
    text = (root / lock).read_text(encoding="utf-8")
    assert "--index-url" not in text
    assert '"resolved"' not in text
    assert "--hash=sha256:" in text or '"integrity"' in text
