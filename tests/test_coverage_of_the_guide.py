"""`docs/coverage.md` names files and tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| .* \| `([^`]+)` \| `([^`:]+)::(\w+)` \|$", re.MULTILINE)
TEXT = (ROOT / "docs/coverage.md").read_text(encoding="utf-8")
ROWS = ROW.findall(TEXT)


def test_every_item_has_a_file_and_a_test():
    tables = TEXT.partition("## Not here")[0]
    rows = [line for line in tables.splitlines() if line.startswith("|") and not line.startswith(("| item", "|--"))]
    assert len(ROWS) == len(rows) > 40


@pytest.mark.parametrize(("file", "tests", "name"), ROWS, ids=[name for _, _, name in ROWS])
def test_they_exist(file, tests, name):
    assert (ROOT / file).is_file()
    assert f"def {name}(" in (ROOT / tests).read_text(encoding="utf-8")
