"""What Tab offers after a magic: its options, and for comparisons the names of profiles."""

from __future__ import annotations

import argparse
import difflib
import re
from typing import Any

from IPython.core.error import TryNext
from IPython.core.interactiveshell import InteractiveShell

from tfprof_nb.api.repeats import Repeats
from tfprof_nb.profiles import Profile
from tfprof_nb.views.pages import PAGES

try:
    from IPython.core.completer import SimpleCompletion, context_matcher

    _HAS_MATCHERS = True
except ImportError:  # IPython 7, as in Colab
    _HAS_MATCHERS = False

Parsers = dict[str, argparse.ArgumentParser]

_CALL = re.compile(r"\s*(%%?\w+)\s+(?:.*\s)?(\S*)")
_HELP = "--help"


def add_completions(shell: InteractiveShell, parsers: Parsers) -> None:
    """Let Tab complete what follows the magics; ``parsers`` has a parser for each, by its name with ``%`` or ``%%``."""
    offers = Offers(shell, parsers)
    if _HAS_MATCHERS:
        shell.Completer.custom_matchers.append(context_matcher(priority=100)(offers))
    else:
        for magic in parsers:
            shell.set_hook("complete_command", offers.to_hook, str_key=magic)


def remove_completions(shell: InteractiveShell, parsers: Parsers) -> None:
    """Undo `add_completions`."""
    if _HAS_MATCHERS:
        others = [matcher for matcher in shell.Completer.custom_matchers if not isinstance(matcher, Offers)]
        shell.Completer.custom_matchers = others
    for magic in parsers:
        shell.strdispatchers["complete_command"].strs.pop(magic, None)


class Offers:
    """A matcher of IPython: what can follow the magics."""

    def __init__(self, shell: InteractiveShell, parsers: Parsers) -> None:
        self._shell, self._parsers = shell, parsers
        self.__qualname__ = "tfprof_nb"  # by which IPython knows the matcher

    def __call__(self, context: Any) -> Any:
        """Return what IPython calls a matcher's result; other matchers would add magics, files and Python's names."""
        line = context.text_until_cursor
        found = [SimpleCompletion(text=name, type="param") for name in self._of(line)]
        return {"completions": found, "suppress": bool(found), "matched_fragment": re.split(r"\s", line)[-1]}

    def to_hook(self, _shell: InteractiveShell, event: Any) -> list[str]:
        """Return the same to the hook of IPython 7."""
        if found := self._of(event.line):
            return found
        raise TryNext

    def _of(self, line: str) -> list[str]:
        """Return what can stand at the end of a line."""
        call = _CALL.fullmatch(line)
        parser = self._parsers.get(call[1]) if call else None
        if not call or not parser:
            return []
        option, equals, begun = call[2].partition("=")
        if equals:  # --views=memory
            given = [value for value in _values(option, begun, parser) or () if value.startswith(begun)]
            return [f"{option}={value}" for value in given]
        values = _values(line[: len(line) - len(call[2])].rsplit(maxsplit=1)[-1], call[2], parser)
        if values is None:
            values = options(parser) if call[2].startswith("-") else self._profiles(parser)
        return [name for name in values if name.startswith(call[2])]

    def _profiles(self, parser: argparse.ArgumentParser) -> list[str]:
        """Return the names of profiles, if that is what the magic takes."""
        if not any(action.dest in ("before", "after") for action in parser._actions):  # noqa: SLF001
            return []
        named = ((name, value) for name, value in self._shell.user_ns.items() if name[0] != "_")
        return sorted(name for name, value in named if isinstance(value, Profile | Repeats))


def _values(option: str, begun: str, parser: argparse.ArgumentParser) -> list[str] | None:
    """Return what can follow an option, as far as that is a choice; None if nothing follows it, or it is no option."""
    action = next((one for one in parser._actions if option in one.option_strings and one.nargs != 0), None)  # noqa: SLF001
    if action is None:
        return None
    if action.dest == "views":
        others, comma, _ = begun.rpartition(",")
        return [f"{others}{comma}{page}" for page in PAGES]
    return [str(choice) for choice in action.choices or ()]


def options(parser: argparse.ArgumentParser) -> list[str]:
    """Return a magic's options."""
    known = [name for action in parser._actions for name in action.option_strings if name.startswith("--")]  # noqa: SLF001
    return [*dict.fromkeys([*known, _HELP])]


def misspelt(line: str, parser: argparse.ArgumentParser) -> str:
    """Return what is wrong with the first unknown option of a line, and which option was probably meant; or nothing."""
    known = options(parser)
    for word in line.split():
        option = word.partition("=")[0]
        if option.startswith("--") and not any(name.startswith(option) for name in known):
            meant = _meant(option, parser)
            hint = f"Did you mean {meant}?" if meant else f"The options are {', '.join(known)}."
            return f"unrecognized arguments: {option}. {hint}"
    return ""


def _meant(option: str, parser: argparse.ArgumentParser) -> str:
    """Return the option that is spelt most like another, or that is called so in Python (``logdir`` is ``--out``)."""
    spelt = {name: name for name in options(parser)}
    called = {f"--{action.dest}": action.option_strings[-1] for action in parser._actions if action.option_strings}  # noqa: SLF001
    names = called | spelt
    close = difflib.get_close_matches(option.replace("_", "-"), names, 1)
    return names[close[0]] if close else ""
