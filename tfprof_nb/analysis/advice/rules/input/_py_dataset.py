"""A PyDataset whose batches steps wait for: its method, the slowest line of it, and where it is made."""

import re
from typing import NamedTuple

import pandas as pd

from tfprof_nb.analysis.advice import Evidence, at, quoted
from tfprof_nb.analysis.advice.rules.input._cause import does
from tfprof_nb.analysis.advice.rules.input._python import in_words, makes_data
from tfprof_nb.analysis.source.code import place_of


class SlowDataset(NamedTuple):
    """The method that makes the batches, in words, its file, its slowest line, and where the dataset is made."""

    function: str
    name: str
    shown: str
    file: str
    defined: int
    place: str
    code: str
    made: tuple[str, int] | None

    def by_processes(self, evidence: Evidence) -> bool:
        """Whether processes make the batches."""
        return self.made is not None and "use_multiprocessing" in evidence.code.line(*self.made)


def slow_dataset(evidence: Evidence, dataset: str) -> SlowDataset:
    """Return a PyDataset's method, with the line in it, or in what it calls, that takes the longest."""
    function, table = f"{dataset}.__getitem__", makes_data(evidence)
    file, defined, _ = evidence.code.method(function)
    rows = table[table["self_ms"] > 0] if table is not None else pd.DataFrame()
    slowest = (str(rows.iloc[0]["file"]), int(rows.iloc[0]["line"])) if len(rows) else (file, defined)
    place, code = place_of(*slowest) if slowest[1] else "", evidence.code.line(*slowest)
    ran = f"most of its time goes into {quoted(code)}" if len(rows) and code else in_words(evidence)
    shown = f"{function}{at(place)} makes the batches: {ran}"
    return SlowDataset(
        function, f"{function} {does(code)}", shown, file, defined, place, code, _made(evidence, dataset)
    )


def _made(evidence: Evidence, dataset: str) -> tuple[str, int] | None:
    """Return the file and line that make a dataset: where several do, the only one that ran."""
    found = list(evidence.code.find(rf"(?<!class )\b{re.escape(dataset)}\("))
    if len(found) > 1:
        ran = evidence.python.table
        ran = ran[ran["thread"] == "main"]
        found = [place for place in found if place in set(zip(ran["file"], ran["line"], strict=True))]
    return found[0] if len(found) == 1 else None
