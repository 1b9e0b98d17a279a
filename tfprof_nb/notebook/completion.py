"""What Tab offers after a magic: its options, and where it takes a profile, their names and run folders."""

import argparse
import difflib
import re
import shlex
from typing import Any

from IPython.core.error import TryNext
from IPython.core.interactiveshell import InteractiveShell

from tfprof_nb.analysis.advice.catalogue import rules
from tfprof_nb.api.repeats import Repeats
from tfprof_nb.api.session import LOGDIR
from tfprof_nb.capture.run_folder import runs_folders, shown_path
from tfprof_nb.profiles import Profile
from tfprof_nb.results import run_folders_in_use
from tfprof_nb.runs import find_runs
from tfprof_nb.views.pages import PAGES

try:
    from IPython.core.completer import SimpleCompletion, context_matcher

    _HAS_MATCHERS = True
except ImportError:  # IPython 7, as in Colab
    _HAS_MATCHERS = False

Parsers = dict[str, argparse.ArgumentParser]

_CALL = re.compile(r"\s*(%%?\w+)\s+(?:.*\s)?(\S*)")
_HELP = "--help"
_PARAMETER = "param"


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
        found = [SimpleCompletion(text=name, type=kind) for name, kind in self._of(line).items()]
        fragment = re.split(r"\s", line)[-1]
        return {"completions": found, "suppress": bool(found), "ordered": True, "matched_fragment": fragment}

    def to_hook(self, _shell: InteractiveShell, event: Any) -> list[str]:
        """Return the same to the hook of IPython 7."""
        if found := self._of(event.line):
            return list(found)
        raise TryNext

    def _of(self, line: str) -> dict[str, str]:
        """Return what can stand at the end of a line, and what each is."""
        call = _CALL.fullmatch(line)
        parser = self._parsers.get(call[1]) if call else None
        if not call or not parser:
            return {}
        option, equals, begun = call[2].partition("=")
        if equals:  # --views=memory
            given = [value for value in _values(option, begun, parser) or () if value.startswith(begun)]
            return {f"{option}={value}": _PARAMETER for value in given}
        before = line[: len(line) - len(call[2])].split()
        values = _values(before[-1], call[2], parser)
        if values is None and not call[2].startswith("-"):
            offers = self._profiles(_positional(parser, len(before) - 1))
        else:
            offers = dict.fromkeys(options(parser) if values is None else values, _PARAMETER)
        return {name: kind for name, kind in offers.items() if name.startswith(call[2])}

    def _profiles(self, takes: str) -> dict[str, str]:
        """Return the names of profiles, and run folders with what they are, as far as an argument takes them."""
        named = ((name, value) for name, value in self._shell.user_ns.items() if name[0] != "_")
        names = sorted(name for name, value in named if isinstance(value, Profile | Repeats))
        offers = dict.fromkeys(names, "profile") if takes in ("before", "after") else {}
        return offers | (_run_folders() if takes in ("path", "before", "after") else {})


def _run_folders() -> dict[str, str]:
    """Return the run folders where this notebook's captures go, newest first, with what each is."""
    folders = runs_folders(LOGDIR, run_folders_in_use())
    runs = [run for folder in folders for place in folder.iterdir() if place.is_dir() for run in find_runs(place)]
    runs.sort(key=lambda run: (run.time, run.name), reverse=True)
    return {shlex.quote(str(shown_path(run.path))): _in_one_line(run.found or "run") for run in runs}


def _in_one_line(text: str) -> str:
    """Return a text that is not broken: JupyterLab's list has a single line for each offer."""
    return text.replace(" ", "\N{NO-BREAK SPACE}").replace("-", "\N{NON-BREAKING HYPHEN}")


def _positional(parser: argparse.ArgumentParser, place: int) -> str:
    """Return the name of the argument at a place among those that are no options; empty if there is none."""
    names = [action.dest for action in parser._actions if not action.option_strings]  # noqa: SLF001
    return names[place] if place < len(names) else ""


def _values(option: str, begun: str, parser: argparse.ArgumentParser) -> list[str] | None:
    """Return what can follow an option, as far as that is a choice; None if nothing follows it, or it is no option."""
    action = next((one for one in parser._actions if option in one.option_strings and one.nargs != 0), None)  # noqa: SLF001
    if action is None:
        return None
    if action.dest == "views":
        others, comma, _ = begun.rpartition(",")
        return [f"{others}{comma}{page}" for page in PAGES]
    if action.dest == "ignore":
        return [*rules()]
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
