"""Leave the program's text and the paths of files out of what a capture recorded."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from tfprof_nb.decode.sidecar import Sidecar
from tfprof_nb.formats.sidecar import Section

#: Stands in the place of code that is left out.
HIDDEN_CODE = "…"
# An absolute path, one from home or upwards, or a URL but those of web pages. Names of folders may have spaces.
_OF_NAME = r"""[^\s/\\:'"<>|]"""
_PATH = re.compile(
    r"(?<![\w:/\\.)\]…])(?:(?!https?:)[A-Za-z][\w+.-]{1,15}://|~\w*(?=[/\\])|[A-Za-z]:(?=[/\\])|\.\.?(?=[/\\]))?"
    r"(?:[/\\]+(?=\S)|(?<=://))(?!(?:job|replica|task|device|host|cpu|gpu):)"
    rf"(?:{_OF_NAME}+(?:(?<![.,;]) {_OF_NAME}+)*[/\\]+)*([^\s/\\:'\",;]*)"
)


def redacted(sidecar: Sidecar) -> Sidecar:
    """Return a sidecar without code; files have their names without folders, numbered where two are alike."""
    kept = dict(sidecar.sections)
    try:
        names = _short_names(_files(kept))
        for section, change in _CHANGES.items():
            if kept.get(section):
                kept[section] = change(kept[section], names)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        kept = {}  # damaged
    return replace(sidecar, sections=kept)


def without_paths(text: str) -> str:
    """Return a text in which paths and URLs of files are cut to their last part.

    Examples
    --------
    >>> without_paths("Its profile is in /home/me/my logs/run_1.")
    'Its profile is in …/run_1.'
    >>> without_paths("gs://bucket/logs/run_1 ran on /device:GPU:0")
    '…/run_1 ran on /device:GPU:0'
    """
    return _PATH.sub(r"…/\1", text)


def _files(sections: Mapping[str, Any]) -> Iterable[str]:
    cell, graphs, python = (sections.get(name) or {} for name in (Section.CELL, Section.GRAPHS, Section.PYTHON))
    yield from [cell["file"]] if cell else []
    yield from sections.get(Section.CELLS) or {}
    for section, table in ((graphs, "frames"), (python, "functions")):
        for index in section.get(table, {}).get("file", []):
            yield section["strings"][index]


def _short_names(files: Iterable[str]) -> dict[str, str]:
    short: dict[str, str] = {}
    for file in dict.fromkeys(files):
        name = PurePath(file.replace("\\", "/")).name
        alike = sum(PurePath(other.replace("\\", "/")).name == name for other in short)
        short[file] = f"{name} ({alike + 1})" if alike else name
    return short


def _cell(section: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return section | {
        "file": names[section["file"]],
        "text": "\n".join(HIDDEN_CODE for _ in section["text"].splitlines()),
    }


def _cells(section: dict[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {names[file]: label for file, label in section.items()}


def _graphs(section: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    frames, strings = dict(section.get("frames", {})), [*section.get("strings", []), HIDDEN_CODE]
    if frames:
        frames["text"] = [len(strings) - 1] * len(frames["text"])
    return _with_short_files(section | {"strings": strings, "sources": {}}, "frames", frames, names)


def _python(section: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return _with_short_files(section | {"sources": {}}, "functions", dict(section.get("functions", {})), names)


def _with_short_files(
    section: dict[str, Any], key: str, table: dict[str, Any], names: Mapping[str, str]
) -> dict[str, Any]:
    """Let the column ``file`` of a table refer to short names, which are added to the section's texts."""
    if not table:
        return section
    strings, added = list(section["strings"]), dict[int, int]()
    for index in table["file"]:
        if index not in added:
            added[index] = len(strings)
            strings.append(names[strings[index]])
    return section | {"strings": strings, key: table | {"file": [added[index] for index in table["file"]]}}


_CHANGES: Mapping[str, Callable[[dict[str, Any], Mapping[str, str]], dict[str, Any]]] = {
    Section.CELL: _cell,
    Section.CELLS: _cells,
    Section.CELL_TEXTS: lambda _section, _names: {},
    Section.GRAPHS: _graphs,
    Section.PYTHON: _python,
    Section.NAMES: lambda _section, _names: {},
}
