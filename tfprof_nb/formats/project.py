"""A project's settings: the table ``[tool.tfprof_nb]`` of the nearest ``pyproject.toml`` that has one."""

import tomllib
from pathlib import Path
from typing import Any

_FILE, _TOOL = "pyproject.toml", "tfprof_nb"


def ignored_rules() -> tuple[list[str], Path | None]:
    """Return the rules that the project of the working folder ignores, and the file that says so.

    Raises
    ------
    ValueError
        If the table is not as it should be.
    """
    try:
        folder = Path.cwd()
    except FileNotFoundError:  # it is gone
        return [], None
    for file in (place / _FILE for place in (folder, *folder.parents)):
        table = _table(file)
        if table is None:
            continue
        if unknown := sorted(set(table) - {"ignore"}):
            raise ValueError(f"{file}: [tool.{_TOOL}] has no setting {unknown[0]!r}. It knows `ignore`.")
        ignore = table.get("ignore", [])
        if not isinstance(ignore, list) or not all(isinstance(rule, str) for rule in ignore):
            raise ValueError(f'{file}: `ignore` of [tool.{_TOOL}] is a list of rules, as ["slow-callback"].')
        return ignore, file
    return [], None


def _table(file: Path) -> dict[str, Any] | None:
    """Return the table of a file; None if it has none. A file that others cannot read either is not ours to judge."""
    try:
        tools = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None
    table = tools.get(_TOOL)
    return table if isinstance(table, dict) else None
