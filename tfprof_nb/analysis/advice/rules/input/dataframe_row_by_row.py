import re

import pandas as pd

from tfprof_nb.analysis.advice import Evidence, quoted
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._python import dataset_class, makes_data, python_source
from tfprof_nb.analysis.source.code import place_of

_ROW_BY_ROW = re.compile(r"\.(?:iterrows|itertuples)\(|\.i?loc\[\w+\]|\brow\[[\"']")
_WHOLE_COLUMNS = (
    "Make the dataset of whole columns, without a generator: "
    '`tf.data.Dataset.from_tensor_slices((df[features].to_numpy("float32"), df[label].to_numpy()))`.'
)
_ROWS_OF_ARRAYS = (
    'Turn the columns into arrays once, in __init__: `self.x = df[features].to_numpy("float32")`, and the same for the '
    "labels. Take all rows of a batch at once by their numbers: `self.x[numbers]`."
)

RULE = cause_rule(
    "dataframe-row-by-row",
    "The data is taken from a DataFrame row by row",
    "Looks for `iterrows`, `itertuples` and single rows of `loc` in functions that make the data.",
    "pandas makes an object for each row. Whole columns are arrays, of which a batch is a slice.",
    saved=(0.5, 1.0),
    after="npz-read-per-element",
)


def cause(evidence: Evidence) -> Cause | None:
    if dataset := dataset_class(evidence):
        return _in_dataset(evidence, f"{dataset}.__getitem__")
    source = python_source(evidence)
    if not source or not any(_takes_rows(evidence, *at) for at in _lines(source.own)):
        return None
    name = f"{source.function} goes through a DataFrame row by row"
    return Cause(name, source.shown, _WHOLE_COLUMNS, place=source.place)


def _in_dataset(evidence: Evidence, function: str) -> Cause | None:
    """Find a line of a PyDataset that takes single rows."""
    table = makes_data(evidence)
    rows = _lines(table[table["self_ms"] > 0]) if table is not None else []
    at = next((at for at in rows if _takes_rows(evidence, *at)), None)
    if at is None:
        return None
    place = place_of(*at)
    return Cause(
        f"{function} goes through a DataFrame row by row",
        f"{function} ({place}) takes single rows: {quoted(evidence.code.line(*at))}",
        _ROWS_OF_ARRAYS,
        place=place,
    )


def _takes_rows(evidence: Evidence, file: str, line: int) -> bool:
    return _ROW_BY_ROW.search(evidence.code.line(file, line)) is not None


def _lines(rows: pd.DataFrame) -> list[tuple[str, int]]:
    return [(str(file), int(line)) for file, line in zip(rows["file"], rows["line"], strict=True)]
