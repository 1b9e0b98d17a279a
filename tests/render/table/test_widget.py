import numpy as np
import pandas as pd
import pytest

from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.render.browser_widgets import TableWidget
from tfprof_nb.render.panels import Column


def sent(frame, *columns):
    """Each column's values as the browser reads them, and its texts."""
    widget = TableWidget(frame, columns)
    values = [np.frombuffer(buffer, dtype="<f8").tolist() for buffer in widget.buffers]
    return list(zip(values, [column["texts"] for column in widget.columns], strict=True))


def test_numbers_travel_as_doubles_and_gaps_as_nan():
    frame = pd.DataFrame({"a": [1.5, None], "b": pd.array([2**40, None], dtype="Int64"), "c": [True, False]})
    columns = [Column("a", "A", "ms"), Column("b", "B", "count"), Column("c", "C", "flag")]
    assert sent(frame, *columns) == [
        ([1.5, pytest.approx(np.nan, nan_ok=True)], None),
        ([2.0**40, pytest.approx(np.nan, nan_ok=True)], None),
        ([1.0, 0.0], None),
    ]


@pytest.mark.parametrize("dtype", ["object", "str", "category"])
def test_texts_travel_once_each(dtype):
    names = pd.Series(["MatMul", "Relu", "MatMul", None], dtype=dtype)
    assert sent(pd.DataFrame({"op": names}), Column("op", "Op")) == [([0, 1, 0, -1], ["MatMul", "Relu"])]


def test_a_text_column_of_numbers_is_written_out():
    assert sent(pd.DataFrame({"line": [12, 7]}), Column("line", "Line", "code")) == [([0, 1], ["12", "7"])]


def test_only_the_columns_asked_for_travel():
    widget = TableWidget(pd.DataFrame({"a": [1], "b": [2]}), [Column("b", "B", "us", bar=True, meaning="Time")])
    (column,) = widget.columns
    assert {key: column[key] for key in ("key", "header", "kind", "bar", "meaning")} == {
        "key": "b",
        "header": "B",
        "kind": "us",
        "bar": True,
        "meaning": "Time",
    }
    assert (widget.rows, widget.selected_row) == (1, None)


def test_an_empty_frame_is_a_table_without_rows():
    assert sent(pd.DataFrame({"a": []}), Column("a", "A", "ms")) == [([], None)]


def test_rows_that_lie_below_one_another_say_how_deep():
    frame = pd.DataFrame({"name": ["all", "a", "a/b"], "depth": [0, 1, 2]})
    assert np.frombuffer(TableWidget(frame, [Column("name", "Name")], "depth").depths).tolist() == [0, 1, 2]
    assert TableWidget(frame, [Column("name", "Name")]).depths == b""


def test_paths_travel_whole_and_in_short():
    names = [f"StatefulPartitionedCall/gradient_tape/model/dense_{k}/Tensordot/MatMul" for k in (1, 2)]
    widget = TableWidget(pd.DataFrame({"op": names}), [Column("op", "Op", "code", path=True, trim=without_calls)])
    assert widget.columns[0]["texts"] == names
    assert widget.columns[0]["short"] == ["…/model/dense_1/Tensordot/MatMul", "…/model/dense_2/Tensordot/MatMul"]
