"""Writes docs/api.md from the docstrings: ``python docs/make_api.py`` (``tests/test_docs.py`` tells when it is due)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import tfprof_nb
from tfprof_nb import __main__ as command_line
from tfprof_nb.analysis.graph.options import GraphOptions
from tfprof_nb.analysis.result import Result
from tfprof_nb.notebook.magics import TfprofMagics
from tfprof_nb.profiles import Profile
from tfprof_nb.render.panels import TimelineSource
from tfprof_nb.views.pages import PAGES

TARGET = Path(__file__).with_name("api.md")
INTRODUCTION = """# API reference

Made from the docstrings by `docs/make_api.py`: change those, not this page. Everything here is in `tfprof_nb`, mostly
imported as `tp`; nothing else is public. In the examples, `p` is a [profile](#profile). The columns of each result are
explained on [its page](README.md#the-tools).
"""
GROUPS = {
    "Capture": ["profile", "start", "stop", "last", "ProfileCallback", "profile_session", "profile_call", "check"],
    "Mark steps": ["step", "StepMarker"],
    "Capture running programs": ["start_server", "capture_remote", "CaptureDialog"],
    "Open": ["load", "find_runs", "Run"],
    "Compare": ["compare", "experiment"],
    "Measure parts by themselves": ["benchmark_input", "benchmark_step"],
    "Advice": ["rules"],
    "Profile": ["Profile"],
    "tfprof's own interface": ["Profiler"],
    "Errors": [],  # and what is left: the errors
}
LISTS = ("Parameters", "Attributes", "Returns", "Raises")
UNDERLINED = re.compile(r"^(\w+)\n-{3,}$", re.MULTILINE)
EXAMPLES_OF_MAGICS = re.compile(r"Examples::\n\n((?: {4}.*\n|\n)+)")


def main() -> None:
    """Write the page."""
    TARGET.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page's text."""
    named = {name for names in GROUPS.values() for name in names}
    errors = [name for name in tfprof_nb._public if name not in named]  # noqa: SLF001
    parts = [INTRODUCTION]
    for group, names in GROUPS.items():
        parts.append(f"## {group}" if group != "Profile" else "## Profile\n\nWhat captures and `tp.load` give.")
        parts += [_described(f"tp.{name}", getattr(tfprof_nb, name), 3) for name in names or errors]
        if group == "Profile":
            parts += [*_members("p", Profile, 4, leave_out=PAGES), "## Results", RESULTS, *_results()]
    parts += ["## Magics", *_magics(), "## Command line", *_commands()]
    return "\n\n".join(filter(None, map(str.strip, parts))) + "\n"


RESULTS = """Every result has these:

- **`table`**: the main rows, a DataFrame. Units are in the columns' names; `_share` is 0 to 1, `_percent` 0 to 100.
- **`summary`**: a dict of headline numbers.
- **`notes`**: a list of texts: why something is empty, estimated, inferred or cut.
- **`view()`**: the widget. Displaying a result in a notebook shows it, `str()` gives it as text."""


def _results() -> Iterator[str]:
    """Describe each result by its property, its class and the function that makes it."""
    for name in PAGES:
        property_ = inspect.getattr_static(Profile, name)
        made_by = _function(property_)
        result = made_by.__globals__[inspect.signature(made_by).return_annotation]
        yield f"### `p.{name}`\n\n{_markdown(inspect.getdoc(property_))}"
        yield _markdown(inspect.getdoc(result))
        maker = getattr(import_module(result.__module__), name, None)
        if maker is not None:
            yield _markdown(_without_parameters(inspect.getdoc(maker) or ""))
        yield from _members(f"p.{name}", result, 4, leave_out={"of_events", *vars(TimelineSource)})
        if name == "graph":
            yield f"#### tfprof's options\n\n{_markdown(inspect.getdoc(GraphOptions))}"


def _without_parameters(doc: str) -> str:
    """Leave out the first sentence, which says what the function does, and what it takes."""
    _, _, body = doc.partition("\n\n")
    return re.sub(r"^Parameters\n-+\n.*?(?=^\w+\n-+$|\Z)", "", body, flags=re.MULTILINE | re.DOTALL)


def _members(owner: str, kind: type, level: int, leave_out: Any = ()) -> Iterator[str]:
    """Describe the methods and properties of a class, but for those that every result has."""
    bases = [base for base in reversed(kind.__mro__) if base not in (object, Result)]
    for name, member in {name: member for base in bases for name, member in vars(base).items()}.items():
        function = _function(member)
        if not name.startswith("_") and name not in leave_out and callable(function) and inspect.getdoc(function):
            yield _described(f"{owner}.{name}", member, level)


def _function(member: Any) -> Any:
    if isinstance(member, cached_property):
        return member.func
    return member.fget if isinstance(member, property) else member


def _described(name: str, thing: Any, level: int) -> str:
    doc = _markdown(inspect.getdoc(_function(thing)))
    signature = f"`{name}{_signature(thing)}`\n\n" if callable(thing) and not _is_error(thing) else ""
    return f"{'#' * level} `{name}`\n\n{signature}{doc}"


def _is_error(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Exception)


def _signature(thing: Any) -> str:
    """Return the signature without types, which the text tells in words."""
    signature = inspect.signature(thing)
    names = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    return str(signature.replace(parameters=names, return_annotation=inspect.Signature.empty))


def _markdown(doc: str | None) -> str:
    """Turn a NumPy-style docstring into Markdown."""
    first, *sections = UNDERLINED.split((doc or "").replace("``", "`"))
    text = [first.strip()]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        text.append(f"**{title}**\n\n{_section(title, body.strip())}")
    return "\n\n".join(filter(None, text))


def _section(title: str, body: str) -> str:
    if title in LISTS:
        return "\n".join(_entries(body))
    return _fenced(body) if title == "Examples" else body


def _entries(body: str) -> Iterator[str]:
    """Make a list of ``name`` with an indented text below; what follows the list unindented stays a paragraph."""
    for block in re.split(r"\n(?=\S)", body):
        name, _, text = block.partition("\n")
        if text.strip():
            yield f"- **`{name}`**: {inspect.cleandoc(text)}".replace("\n", "\n  ")
        else:
            yield f"\n{name}"  # no entry, but a paragraph behind the list


def _fenced(body: str) -> str:
    """Set sessions apart from the text between them."""
    parts = re.split(r"\n\n(?=>>>)|(?<=\S)\n\n(?!>>>)", body)
    return "\n\n".join(f"```pycon\n{part}\n```" if part.startswith(">>>") else part for part in parts)


def _magics() -> Iterator[str]:
    for name in ("tfprofile", "tfprofile_load", "tfprofile_compare", "tfprofile_check"):
        magic = getattr(TfprofMagics, name)
        doc = inspect.cleandoc(magic.parser.description or magic.__doc__)
        examples = EXAMPLES_OF_MAGICS.search(doc + "\n")
        about = doc.partition("Examples::")[0].strip()
        cell = "%" if name == "tfprofile" else ""
        yield f"### `{cell}%{name}`\n\n{about}\n\n{_options(magic.parser)}"
        if examples:
            yield f"```text\n{inspect.cleandoc(examples[1])}\n```"


def _commands() -> Iterator[str]:
    commands = next(action for action in command_line._parser()._actions if action.choices)  # noqa: SLF001
    about = {choice.dest: choice.help for choice in commands._choices_actions}  # noqa: SLF001
    for name, parser in commands.choices.items():
        yield f"### `python -m tfprof_nb {name}`\n\n{about[name][0].upper()}{about[name][1:]}.\n\n{_options(parser)}"


def _options(parser: Any) -> str:
    rows = ["| option | |", "|---|---|"]
    for action in parser._actions:  # noqa: SLF001
        if action.dest == "help":
            continue
        value = action.metavar or ("" if action.nargs == 0 else "\\|".join(map(str, action.choices or ["FILE"])))
        written = " ".join(filter(None, [", ".join(action.option_strings), value]))
        rows.append(f"| `{written}` | {action.help} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
