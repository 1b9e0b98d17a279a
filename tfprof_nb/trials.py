"""The changes of a profiled cell: to try one, and to put the changed cell into the notebook."""

import difflib
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb._errors import TfprofError
from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.advice.catalogue import rules
from tfprof_nb.analysis.source.changed_text import changed_text
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.trial import Outcome, Ran, Trial, acts_between_epochs, trial, whole_cells_s
from tfprof_nb.capture.trial.cell import missing, names_of, paths_in, variant
from tfprof_nb.capture.trial.turns import AS_IT_IS, CHANGED, Turns, take_turns
from tfprof_nb.render.content import Content
from tfprof_nb.render.progress import progress_bar, progress_line
from tfprof_nb.views import trial as view

_MAGIC = re.compile(r"^%%.*")
_CELL = re.compile(r"In\[([0-9]+)\]")
_MIN_SECONDS = 5.0
_LONGEST_S = 300.0


@dataclass(frozen=True)
class Change:
    """A change of the program.

    Attributes
    ----------
    rule
        The id of the rule that made it.
    file
        The cell that it is in, by the name that results give it.
    text
        That cell's whole text, changed.
    claim
        What the rule says of results (`Rule.results`).
    is_between_epochs
        Whether only whole cells tell what it gains.
    """

    rule: str
    file: str
    text: str
    claim: str = "equal"
    is_between_epochs: bool = False


def change_of(advice: Advice, texts: Mapping[str, str], rule: str | None) -> Change:
    """Return the change of a rule, or that of the first finding that has one.

    Raises
    ------
    TfprofError
        If there is none.
    """
    if rule is not None and not isinstance(rule, str):
        raise TfprofError(f"rule={rule!r}: give the id of a rule, from the column `rule` of p.advice.table.")
    rows = advice.table.to_dict("records")
    changes, why_not = dict[str, Change](), dict[str, str]()
    for row in rows:
        made = _change(row, texts)
        if isinstance(made, Change):
            changes.setdefault(made.rule, made)
        else:
            why_not.setdefault(row["rule"], made)
    if rule is None and changes:
        return next(iter(changes.values()))
    if rule in changes:
        return changes[str(rule)]
    can = f"Those of these rules can be: {', '.join(map(repr, changes))}." if changes else "No other finding has one."
    if rule is None:
        raise TfprofError(
            "No finding of this profile has a change as code that could be tried. Change the cell as a finding's words "
            "say, run it under another name, and let tp.compare(before, after) tell what that gained."
        )
    if rule in why_not:
        raise TfprofError(f"The change of {rule!r} can't be tried: {why_not[rule]}. {can}")
    raise TfprofError(f"This profile has no finding of a rule {rule!r}. {can}")


def tried(change: Change, texts: Mapping[str, str], seconds: Any, cell_s: float = 0.0) -> Trial:
    """Run the profiled cell, which took so many seconds, as it is and changed, in turns.

    Raises
    ------
    TfprofError
        If the cell can't be repeated, or takes too long where only whole cells tell what the change gains.
    """
    given: Any = seconds  # what people give
    if not isinstance(given, int | float) or not _MIN_SECONDS <= given < math.inf:
        raise TfprofError(f"seconds={seconds!r}: give a number of seconds from {_MIN_SECONDS:.0f} on.")
    if change.is_between_epochs:
        needed_s = whole_cells_s(cell_s)
        if needed_s > max(given, _LONGEST_S):
            raise TfprofError(
                "The change acts between epochs, so only whole cells tell what it gains, and two runs of each take "
                f"about {needed_s} s. Give as many (seconds={needed_s}), or profile fewer epochs."
            )
        seconds = max(given, needed_s)
    shell = _shell()
    if shell is None:
        raise TfprofError(
            "A change can be tried only in a notebook or in IPython, where the cell was profiled: its variables are "
            "not here."
        )
    cells = _cells(shell, change, texts)
    _check(shell, cells)
    lines = _lines_that_differ(cells[AS_IT_IS][1], cells[CHANGED][1])
    variants = {name: variant(shell, name, *cells[name], lines[name]) for name in (AS_IT_IS, CHANGED)}
    print(_announcement(change, cells, seconds))  # noqa: T201
    with progress_line() as show:
        turns = take_turns(
            shell.user_ns, variants, float(seconds), partial(progress_bar, show), whole=change.is_between_epochs
        )
    made = trial(_ran(turns), change.rule, change.claim)
    made.notes += turns.notes
    if turns.interrupted:
        made.notes.append("Interrupted: the figures are of the rounds that ended before.")
    return made.shown_by(lambda: Content(f"Tried: {change.rule}", view.panels(made)))


def put_into_notebook(change: Change) -> str | None:
    """Put the changed cell into a new cell below; return its text where there is no notebook."""
    shell = _shell()
    if shell is None:
        return change.text
    shell.set_next_input(change.text.rstrip("\n"), replace=False)
    return None


def note_refuted(advice: Advice, made: Trial) -> None:
    """Let a finding say that its change was tried and makes other results; it promises nothing any more."""
    table = advice.table
    rows = table["rule"] == made.summary["rule"]
    table.loc[rows, ["estimated_gain_percent", "gain_low_percent", "gain_high_percent"]] = math.nan
    table.loc[rows, ["change", "gain_of"]] = ""
    words = made.notes[0].removeprefix("Results: ")
    table.loc[rows, "fix"] += f" This was tried and is refuted: {words}"


def _change(row: Mapping[Any, Any], texts: Mapping[str, str]) -> Change | str:
    """Return the change of a finding, or why it has none."""
    if not row["change"]:
        return "its finding has no change as code"
    file, line = line_at(row["place"])
    if file != "cell" and not _CELL.fullmatch(file):
        return f"it is in {file or 'a place that is not known'}, and only cells can be tried"
    if not texts.get(file):
        return "the profile has not the text of the cell"
    changed = changed_text(texts[file], line, row["change"])
    if not changed.text:
        return changed.why_not
    return Change(row["rule"], file, changed.text, rules()[row["rule"]].results, acts_between_epochs(row["node"]))


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _cells(shell: Any, change: Change, texts: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the code of both variants: cells above that must run again, and the profiled cell."""
    cell = texts.get("cell", "")
    if not cell:
        raise TfprofError("The profile has not the text of a cell: only what %%tfprofile profiled can be tried.")
    if change.file == "cell":
        return {AS_IT_IS: ("", _without_magic(cell)), CHANGED: ("", _without_magic(change.text))}
    above = _above(shell, change.file, texts)
    before = [_without_magic(texts[name]) for name in above]
    after = [_without_magic(change.text), *before[1:]]
    return {AS_IT_IS: ("\n".join(before), _without_magic(cell)), CHANGED: ("\n".join(after), _without_magic(cell))}


def _lines_that_differ(one: str, other: str) -> dict[str, int]:
    """Return the number of the line in which the last difference between two cells begins, in each; 0 if none does."""
    lines = one.splitlines(), other.splitlines()
    differences = [
        (begin, new_begin)
        for kind, begin, _, new_begin, _ in difflib.SequenceMatcher(None, *lines, autojunk=False).get_opcodes()
        if kind != "equal"
    ]
    if not differences:
        return {AS_IT_IS: 0, CHANGED: 0}
    ends = (min(at + 1, max(len(side), 1)) for at, side in zip(differences[-1], lines, strict=True))
    return dict(zip((AS_IT_IS, CHANGED), ends, strict=True))


def _above(shell: Any, first: str, texts: Mapping[str, str]) -> list[str]:
    """Return the cell that is changed, and those after it that use what it or one of them binds."""
    profiled = _without_magic(texts["cell"]).strip()
    numbers = {name: int(found[1]) for name in texts if (found := _CELL.fullmatch(name))}
    bound, used = names_of(shell, _without_magic(texts[first]))
    chosen, affected = [first], set(bound)
    for name in sorted(numbers, key=numbers.__getitem__):
        text = _without_magic(texts[name])
        if numbers[name] <= numbers[first] or text.strip() == profiled:
            continue
        bound, used = names_of(shell, text)
        if used & affected:
            chosen.append(name)
            affected |= bound
    return chosen


def _without_magic(text: str) -> str:
    return _MAGIC.sub("", text, count=1)  # its line stays: lines are counted with it


def _check(shell: Any, cells: Mapping[str, tuple[str, str]]) -> None:
    lacking = missing(shell, *cells[AS_IT_IS], shell.user_ns)
    if lacking:
        names = ", ".join(f"`{name}`" for name in lacking)
        raise TfprofError(
            f"The notebook no longer holds {names}: run the cells above the profiled one, then try again."
        )
    written, _ = paths_in([text for pair in cells.values() for text in pair])
    if written:
        raise TfprofError(
            f"The cell names {written[0]}, which a trial may write: what goes to relative paths is kept in a scratch "
            "folder. Write to a relative path, then profile and try again."
        )


def _announcement(change: Change, cells: Mapping[str, tuple[str, str]], seconds: float) -> str:
    again = ", after the cells that set up what is changed" if cells[AS_IT_IS][0] else ""
    _, there = paths_in([text for pair in cells.values() for text in pair])
    read = f" It must only read {', '.join(there)}." if there else ""
    return (
        f"Trying {change.rule!r} for about {_units.number(seconds)} s: the profiled cell runs as it is and changed, in "
        f"turns{again}. Your objects are put back, files are written to a scratch folder.{read}"
    )


def _ran(turns: Turns) -> Ran:
    rows = []
    for run in turns.runs:
        pace = run.pace(turns.kind)
        rows.append(
            {
                "round": run.round,
                "variant": run.variant,
                "steps": pace.steps,
                "seconds": run.seconds,
                "ms_per_step": 1000 * pace.step_s,
                "first_ms": 1000 * pace.first_s,
                "per_epoch": run.steps.per_epoch or math.nan,
                "epochs": run.steps.planned_epochs,
                "is_whole": run.is_whole,
            }
        )
    columns = ["round", "variant", "steps", "seconds", "ms_per_step", "first_ms", "per_epoch", "epochs", "is_whole"]
    outcomes: Sequence[Outcome] = [Outcome(run.round, run.variant, run.values, run.examples) for run in turns.runs]
    return Ran(pd.DataFrame(rows, columns=columns), outcomes, turns.start, turns.whole, turns.failed)
