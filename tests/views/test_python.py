"""The page about Python: which line took longest, and what it waited for."""

import pandas as pd

from tfprof_nb.analysis.python import COLUMNS, Python
from tfprof_nb.render.panels import Note, Table
from tfprof_nb.views import python as python_view

LINE = {"function": "<module>", "file": "cell", "line": 2, "thread": "main", "library": "Keras", "samples": 10}


def page(*rows):
    numbers = dict.fromkeys(COLUMNS, 0.0)
    table = pd.DataFrame([{**numbers, **LINE, **row} for row in rows])[COLUMNS]
    summary = {"samples": 10 * len(rows), "interval_ms": 5.0, "accounted_percent": 50.0}
    return python_view.panels(
        Python(table, summary, [], callbacks=pd.DataFrame(), calls=pd.DataFrame(), nested=pd.DataFrame())
    )


def answer(*rows):
    return next(panel.text for panel in page(*rows) if isinstance(panel, Note) and panel.kind == "answer")


def test_the_slowest_line_stands_first_with_what_it_waited_for():
    text = answer({"self_ms": 300.0, "ops_ms": 200.0}, {"self_ms": 100.0, "line": 3})
    assert (
        text
        == "Cell line 2 took longest: 300 ms, 75.0% of Python's time, mostly in Keras. For 200 ms of that, ops ran."
    )


def test_the_line_of_a_function_is_called_by_it():
    text = answer({"self_ms": 300.0, "function": "load", "file": "In[1]", "library": ""})
    assert text == "`load` (In[1] line 2) took longest: 300 ms, 100% of Python's time."


def test_threads_beside_the_main_one_neither_lead_nor_count():
    beside = {"self_ms": 900.0, "line": 9, "thread": "tf.data"}
    assert "Cell line 2 took longest: 300 ms, 100%" in answer(beside, {"self_ms": 300.0})


def test_threads_are_told_apart_only_where_there_are_several():
    def shown(*rows):
        (table,) = (panel for panel in page(*rows) if isinstance(panel, Table))
        return [column.key for column in table.columns]

    assert "thread" not in shown({"self_ms": 1.0})
    assert "thread" in shown({"self_ms": 1.0}, {"self_ms": 1.0, "thread": "tf.data"})


def test_what_is_no_code_of_the_users_has_no_line():
    (table,) = (panel for panel in page({"self_ms": 1.0, "line": 0, "file": ""}) if isinstance(panel, Table))
    assert table.frame["place"].isna().all()
    assert answer({"self_ms": 1.0, "line": 0, "file": ""}) == (
        "No line of your code was running when Python was sampled."
    )
