"""`docs/coverage.md` names files and tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| .* \| `([^`]+)` \| `([^`:]+)::(\w+)` \|$", re.MULTILINE)
TEXT = (ROOT / "docs/coverage.md").read_text(encoding="utf-8")
ROWS = ROW.findall(TEXT)


def test_every_item_has_a_file_and_a_test():
    tables = TEXT.partition("## Not here")[0]
    rows = [line for line in tables.splitlines() if line.startswith("|") and not line.startswith(("| item", "|--"))]
    assert len(ROWS) == len(rows) > 40


def test_they_exist():
    assert [file for file, *_ in ROWS if not (ROOT / file).is_file()] == []
    texts = {tests: (ROOT / tests).read_text(encoding="utf-8") for _, tests, _ in ROWS}
    assert [(tests, name) for _, tests, name in ROWS if f"def {name}(" not in texts[tests]] == []
