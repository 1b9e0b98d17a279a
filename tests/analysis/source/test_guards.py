"""Which condition lets a line run only every few times."""

from tfprof_nb.analysis.advice.rules.python._time import guard_of
from tfprof_nb.analysis.source.code import Code


def test_the_condition_that_a_line_runs_under():
    text = """
if step % 2 == 0:
    for i in n:
        if i % 100 == 0 and i:
            if verbose:
                save()
        if i % 7:
            load()
    stop()
if ready: go()
"""
    code = Code({"cell": text})
    assert guard_of(code, "cell", 6) == (4, "if i % 100 == 0 and i:")
    assert guard_of(code, "cell", 8) == (7, "if i % 7:")
    assert guard_of(code, "cell", 9) == (2, "if step % 2 == 0:")
    assert guard_of(code, "cell", 10) == guard_of(code, "cell", 2) == guard_of(code, "nowhere", 1) == (0, "")
