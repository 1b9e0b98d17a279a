"""What Tab offers after a magic: its options, and for comparisons the names of profiles."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable
from typing import Any

from IPython.core.error import TryNext
from IPython.core.interactiveshell import InteractiveShell

from tfprof_nb.profiles import Profile

Parsers = dict[str, argparse.ArgumentParser]


def add_completions(shell: InteractiveShell, parsers: Parsers) -> None:
    """Let Tab complete what follows the magics; ``parsers`` has a parser for each, by its name with ``%`` or ``%%``."""
    for magic, parser in parsers.items():
        shell.set_hook("complete_command", _completer(parser), str_key=magic)


def remove_completions(shell: InteractiveShell, parsers: Parsers) -> None:
    """Undo `add_completions`."""
    known = shell.strdispatchers["complete_command"].strs
    for magic in parsers:
        known.pop(magic, None)


def _completer(parser: argparse.ArgumentParser) -> Callable[[InteractiveShell, Any], list[str]]:
    takes_profiles = any(action.dest in ("before", "after") for action in parser._actions)  # noqa: SLF001

    def complete(shell: InteractiveShell, event: Any) -> list[str]:
        if event.symbol.startswith("-"):
            return [*options(parser), "--help"]
        if takes_profiles:
            return sorted(
                name for name, value in shell.user_ns.items() if isinstance(value, Profile) and name[0] != "_"
            )
        raise TryNext

    return complete


def options(parser: argparse.ArgumentParser) -> list[str]:
    """Return a magic's options."""
    return [name for action in parser._actions for name in action.option_strings if name.startswith("--")]  # noqa: SLF001


def misspelt(line: str, parser: argparse.ArgumentParser) -> str:
    """Return what is wrong with the first unknown option of a line, and which option was probably meant; or nothing."""
    for word in line.split():
        option = word.partition("=")[0]
        if option.startswith("--") and not any(known.startswith(option) for known in options(parser)):
            meant = difflib.get_close_matches(option, options(parser), 1)
            return f"unrecognized arguments: {option}" + (f". Did you mean {meant[0]}?" if meant else "")
    return ""
