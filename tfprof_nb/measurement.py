"""How to measure the pipeline that a profiled cell took its batches from: what *Measure it* runs."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tfprof_nb._errors import TfprofError
from tfprof_nb.analysis.advice.advice import Measurement
from tfprof_nb.analysis.benchmark_input import InputBenchmark
from tfprof_nb.analysis.source.taken_from import dataset_expressions, root_of
from tfprof_nb.capture.benchmark_input.python_inputs import called_in_notebook, holds_dataset, variables
from tfprof_nb.decode.sections.cell import Cell

_OF_CELL = re.compile(r"In\[[0-9]+\]")
_NAMED_BY_MAGIC = re.compile(r"%%tfprofile +([A-Za-z_][A-Za-z0-9_]*)")


def datasets(texts: Mapping[str, str], cells: Sequence[Cell]) -> dict[str, Any]:
    """Return what the code tells of its datasets: ``fitted`` and ``others``, expressions, and the profile's ``name``.

    Parameters
    ----------
    texts
        The code that ran, by the name of its file.
    cells
        The cell that was profiled, on each host.
    """
    of_cells = {name: text for name, text in texts.items() if name == "cell" or _OF_CELL.fullmatch(name)}
    known = [dataset_expressions(of_cells[name]) for name in sorted(of_cells, key=lambda name: name != "cell")]
    fitted, others = ([one for pair in known for one in pair[k]] for k in range(2))
    named = _NAMED_BY_MAGIC.match(next((cell.text for cell in cells if cell.text), ""))
    return {"fitted": fitted, "others": others, "name": named[1] if named else "p"}


def measurement(profile: object, found: Mapping[str, Any]) -> Measurement | None:
    """Return how to measure the pipeline of a profile; None where its code does not tell of any.

    Parameters
    ----------
    profile
        What a variable of the notebook may hold.
    found
        The program's `datasets`.
    """
    there = (one for one in [*found["fitted"], *found["others"]] if holds_dataset(root_of(one)))
    dataset = next(there, found["fitted"][0] if found["fitted"] else "")
    if not dataset:
        return None
    held = (name for name, value in variables().items() if value is profile and not name.startswith("_"))
    code = f"import tfprof_nb as tp\n\ntp.benchmark_input({dataset}, profile={next(held, found['name'])})"
    return Measurement(dataset, code, partial(_measured, profile, dataset))


def _measured(profile: object, dataset: str) -> InputBenchmark:
    root = root_of(dataset)
    if not holds_dataset(root):
        raise TfprofError(
            f"`{root}` is no dataset in this notebook, or no longer: run the cell that makes it, then click again."
        )
    call = f"__import__('tfprof_nb').benchmark_input({dataset}, profile=_profile)"
    result: InputBenchmark = called_in_notebook(call, _profile=profile)
    return result
