"""What the API page says beyond single docstrings: of results, magics and commands, it is spread over several."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

from tfprof_nb import __main__ as command_line
from tfprof_nb.analysis.result import Result
from tfprof_nb.notebook.magics import TfprofMagics
from tfprof_nb.render.panels import TimelineSource
from tfprof_nb.views.pages import PAGES

SECTION = re.compile(r"^(?=\w+\n-+$)", re.MULTILINE)
PARAMETERS = re.compile(r"^Parameters\n-+\n.*?(?=^\w+\n-+$|\Z)", re.MULTILINE | re.DOTALL)


def complete(_app: object, what: str, name: str, thing: Any, _options: object, lines: list[str]) -> None:
    """Complete one docstring, as the event ``autodoc-process-docstring`` of Sphinx asks."""
    last = name.rpartition(".")[2]
    if what in ("property", "attribute") and last in PAGES and ".Profile." in name:
        lines += _of_result(last, thing)
    elif what == "method" and name.startswith(f"{TfprofMagics.__module__}."):
        parser = getattr(TfprofMagics, last).parser
        lines[:] = [*_plain(parser.description or thing.__doc__), "", *_of_options(parser)]
    elif what == "module" and name == command_line.__name__:
        lines[:] = _of_commands()


def _of_result(name: str, property_: Any) -> list[str]:
    """Say what the result's class and the function that makes it say, and list the members."""
    made_by = _function(property_)
    result = inspect.signature(made_by, eval_str=True).return_annotation
    maker = getattr(import_module(result.__module__), name, None)
    texts = [inspect.getdoc(result) or ""]
    if maker is not None:
        texts.append(PARAMETERS.sub("", (inspect.getdoc(maker) or "").partition("\n\n")[2]))
    parts = [SECTION.split(text, maxsplit=1) for text in texts]  # paragraphs stand before all sections
    paragraphs, sections = [part[0] for part in parts], [section for part in parts for section in part[1:]]
    members = [line for member in _of_members(result) for line in member]
    text = "\n\n".join(filter(None, ["", *map(str.strip, (*paragraphs, *sections))]))
    return ["", *text.splitlines(), *(["", "Also", "----", "", *members] if members else [])]


def _of_members(result: type) -> Iterator[tuple[str, ...]]:
    bases = [base for base in reversed(result.__mro__) if base not in (object, Result)]
    hidden = {"of_events", *vars(TimelineSource)}
    for name, member in {name: member for base in bases for name, member in vars(base).items()}.items():
        function = _function(member)
        if not name.startswith("_") and name not in hidden and callable(function) and inspect.getdoc(function):
            kind = "method" if callable(member) else "property"
            yield f".. auto{kind}:: {result.__module__}.{result.__qualname__}.{name}", "   :no-index:", ""


def _function(member: Any) -> Any:
    if isinstance(member, cached_property):
        return member.func
    return member.fget if isinstance(member, property) else member


def _of_commands() -> Iterator[str]:
    commands = next(action for action in command_line._parser()._actions if action.choices)  # noqa: SLF001
    about = {choice.dest: choice.help for choice in commands._choices_actions}  # noqa: SLF001
    for name, parser in commands.choices.items():
        yield from (f".. rubric:: python -m tfprof_nb {name}", "")
        yield from (f"{about[name][0].upper()}{about[name][1:]}.", "", *_of_options(parser), "")


def _of_options(parser: Any) -> Iterator[str]:
    for action in parser._actions:  # noqa: SLF001
        if action.dest != "help":
            value = action.metavar or ("" if action.nargs == 0 else "|".join(map(str, action.choices or ["FILE"])))
            written = " ".join(filter(None, [", ".join(action.option_strings), value]))
            yield from (f"``{written}``", f"   {action.help}", "")


def _plain(doc: str) -> list[str]:
    return inspect.cleandoc(doc).splitlines()
