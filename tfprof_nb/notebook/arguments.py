"""What the magics are given: the kinds of their options, and their lines parsed."""

import argparse
import inspect
import keyword
import os
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import parse_argstring

from tfprof_nb._errors import TfprofError
from tfprof_nb.api.profile import profile
from tfprof_nb.formats.files import local_path
from tfprof_nb.notebook.completion import misspelt
from tfprof_nb.storage import is_url
from tfprof_nb.views import dashboard

HELP = ("--help", "-h")


def variable(text: str) -> str:
    """Return the name of a variable."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be the name of a variable")
    return text


def positive(text: str) -> int:
    """Return a whole number above zero."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)


def views(text: str) -> list[str]:
    """Return the names of pages."""
    try:
        return dashboard.check_pages([name.strip() for name in text.split(",")])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def path(text: str) -> Path | str:
    """Return a folder or file; a URL stays a text."""
    place = os.path.expandvars(text.strip("\"'"))
    try:
        return place if is_url(place) else local_path(place)
    except TfprofError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def parsed(magic: Any, line: str) -> argparse.Namespace | None:
    """Return a magic's arguments; None after showing its help, if that is what the line asks for."""
    if set(line.split()) & set(HELP):
        shown = magic.parser.format_help().replace("%tfprofile [", "%%tfprofile [")  # options go with the cell form
        print(shown)  # noqa: T201
        return None
    if wrong := misspelt(line, magic.parser):
        raise UsageError(wrong)
    args: argparse.Namespace = parse_argstring(magic, line)
    return args


def settings(args: argparse.Namespace) -> profile:
    """Return the capture's settings: the magic's options that have the name of a parameter of `profile`."""
    __tracebackhide__ = True
    try:
        return profile(**{name: vars(args)[name] for name in inspect.signature(profile).parameters})
    except ValueError as error:
        raise UsageError(str(error)) from None
