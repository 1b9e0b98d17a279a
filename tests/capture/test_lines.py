"""The marks of a cell: every statement is counted and timed, and the cell does what it does without them."""

import ast
import builtins
import contextlib
import importlib.util
import io
import traceback
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from clock import Clock
from tfprof_nb.capture import line_clock
from tfprof_nb.capture.lines import CellLines
from tfprof_nb.capture.notebook import notebook_cells
from tfprof_nb.formats.marks import CELL_LINE_EVENTS

pytestmark = pytest.mark.tensorflow

LOOK_NS = 100  # by the clock below, so long takes a statement


def run(text, *, marked=True):
    """Run a program as a cell; return its names, its output and error, and the section of the sidecar.

    The clock goes on by what the program gives `sleep`, and by `LOOK_NS` at each look at it.
    """
    clock = Clock(LOOK_NS / 1e9)
    with mock.patch.object(line_clock, "perf_counter_ns", clock.perf_counter_ns):
        return run_by(clock, text, marked=marked)


def run_by(clock, text, *, marked):
    lines, tree = CellLines(text), ast.parse(text)
    if marked:
        tree.body = lines.mark(tree.body, "cell.py")
    code = compile(tree, "cell.py", "exec", dont_inherit=True)
    names, error = {"__name__": "cell", "sleep": clock.sleep}, None
    with lines.recorded() as section, contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            with lines.running():
                exec(code, names)
        except BaseException as raised:  # noqa: BLE001
            error = raised
    names.pop("__builtins__", None)
    return SimpleNamespace(names=names, output=output.getvalue(), error=error, section=section())


def by_line(section, column):
    """Sum a column of the section by line."""
    sums = {}
    for line, value in zip(section["line"], section[column], strict=True):
        sums[line] = sums.get(line, 0) + value
    return sums


HITS = {
    "for i in range(3):\n    x = i\nelse:\n    x = 9\n": {1: 4, 2: 3, 4: 1},
    "i = 0\nwhile i < 4:\n    i += 1\n    if i == 2:\n        continue\n    y = i\n": {
        1: 1,
        2: 5,
        3: 4,
        4: 4,
        5: 1,
        6: 3,
    },
    "for i in range(9):\n    if i == 2:\n        break\n": {1: 3, 2: 3, 3: 1},
    "if 0:\n    a = 1\nelif 1:\n    b = 2\nelse:\n    c = 3\n": {1: 1, 2: 0, 3: 1, 4: 1, 6: 0},
    "try:\n    1 / 0\n    a = 1\nexcept ZeroDivisionError:\n    b = 2\nelse:\n    c = 3\nfinally:\n    d = 4\n": {
        1: 1,
        2: 1,
        3: 0,
        5: 1,
        7: 0,
        9: 1,
    },
    "match 5:\n    case 4:\n        a = 1\n    case _:\n        b = 2\n": {1: 1, 3: 0, 5: 1},
    "import contextlib\nwith contextlib.nullcontext():\n    a = 1\n": {1: 1, 2: 2, 3: 1},  # the block ends in its with
    "a = 1; b = 2\n": {1: 2},
    "def f():\n    return 1\nf()\nf()\n": {1: 1, 3: 1, 4: 1},
    "class A:\n    b = 1\n": {1: 1},
}


@pytest.mark.parametrize("text", HITS)
def test_each_statement_is_counted(text):
    assert by_line(run(text).section, "hits") == HITS[text]


PROGRAMS = [
    '"""The text."""\nfrom __future__ import annotations\ndef f(a: Unknown): ...\nd = __doc__\n',
    "x = 1\ndef f():\n    global x\n    x = y = 2\n    def g():\n        nonlocal y\n        y = 4\n    g()\nf()\n",
    "import functools\n@functools.cache\ndef f(n):\n    return n\nprint(f(3), f.cache_info())\n",
    "for i in range(3):\n    try:\n        if i == 1:\n            continue\n    finally:\n        print('end', i)\n",
    "for i in range(3):\n    while True:\n        if i == 1:\n            break\n        i = 1\nelse:\n    print(i)\n",
    "async def f():\n    async with g() as h:\n        await h\nprint(f.__name__)\n",
    "with open('/dev/null') as a, open('/dev/null') as b:\n    pass\nprint(a.closed, b.closed)\n",
    "match {'a': 1}:\n    case {'a': x} if x > 0:\n        print(x)\n",
    "try:\n    raise ExceptionGroup('g', [ValueError(1)])\nexcept* ValueError as e:\n    print(e.exceptions)\n",
    "if (n := 3) > 2: print(n); print('same line')\n",
    "class A:\n    'Text.'\n    b = 1\n    def c(self): return super().__init__()\nprint(A.__doc__, A().c())\n",
    "del_me = 1\ndel del_me\nassert True\nprint(sorted(globals()))\n",
    "def g():\n    yield from (1, 2)\nprint(list(g()), [*map(str, g())])\n",
    "def f():\n    raise KeyError('deep')\nfor i in range(2):\n    f()\n",
    "x = [\n    1,\n    2 /\n    0,\n]\n",
    "raise SystemExit(3)\n",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_program_does_what_it_does_unmarked(text):
    with_marks, without = run(text), run(text, marked=False)
    assert with_marks.output == without.output
    assert [(k, v) for k, v in with_marks.names.items() if isinstance(v, int | str | list)] == [
        (k, v) for k, v in without.names.items() if isinstance(v, int | str | list)
    ]
    assert list(with_marks.names) == list(without.names)
    shown, expected = (
        [
            (place.lineno, place.end_lineno, place.colno, place.end_colno, place.name)
            for place in traceback.extract_tb(result.error.__traceback__)[1:]
        ]
        if result.error
        else None
        for result in (with_marks, without)
    )
    assert shown == expected
    assert repr(with_marks.error) == repr(without.error)


@pytest.mark.parametrize("module", ["argparse", "dataclasses", "tokenize", "shutil", "typing", "inspect", "locale"])
def test_real_modules_define_what_they_define_unmarked(module):
    text = Path(importlib.util.find_spec(module).origin).read_text(encoding="utf-8")
    with_marks, without = run(text), run(text, marked=False)
    assert with_marks.error is without.error is None
    assert list(with_marks.names) == list(without.names)


def test_nothing_is_left_behind():
    before = set(vars(builtins))
    run("x = 1\nraise ValueError\n")
    assert set(vars(builtins)) == before


def test_a_statement_takes_the_time_around_it():
    spent = by_line(run("for pause in (0.02, 0.03):\n    sleep(pause)\n    x = pause\ny = x\n").section, "spent_ns")
    assert spent == {1: 3 * LOOK_NS, 2: 50_000_000 + 2 * LOOK_NS, 3: 2 * LOOK_NS, 4: LOOK_NS}


def test_getting_a_loops_next_element_is_the_loops_own_time():
    text = "def slow():\n    for i in range(3):\n        sleep(0.02)\n        yield i\nfor i in slow():\n    x = i\n"
    spent = by_line(run(text).section, "spent_ns")
    assert spent == {1: LOOK_NS, 5: 60_000_000 + 4 * LOOK_NS, 6: 3 * LOOK_NS}


def test_leaving_a_with_block_is_the_blocks_own_time():
    text = (
        "import contextlib\n@contextlib.contextmanager\ndef slow():\n    yield\n    sleep(0.03)\n"
        "with slow():\n    x = 1\ny = 2\n"
    )
    spent = by_line(run(text).section, "spent_ns")
    assert spent == {1: LOOK_NS, 3: LOOK_NS, 6: 30_000_000 + 2 * LOOK_NS, 7: LOOK_NS, 8: LOOK_NS}


def test_a_loop_that_runs_very_often_is_counted_exactly_and_its_rare_slow_line_is_found():
    count = 60 * CELL_LINE_EVENTS
    text = f"x = 0\nfor i in range({count}):\n    x += 1\n    if i % {count // 3} == 0:\n        sleep(0.05)\ny = 1\n"
    section = run(text).section
    assert by_line(section, "hits") == {1: 1, 2: count + 1, 3: count, 4: count, 5: 3, 6: 1}
    spent = by_line(section, "spent_ns")
    assert spent[5] == 150_000_000 + 3 * LOOK_NS
    assert sum(spent[line] for line in range(2, 5)) < 4 * CELL_LINE_EVENTS * LOOK_NS
    assert section["estimated"] == [2, 3, 4]


def test_passes_of_a_loop_that_take_long_leave_events_however_many_there_are(monkeypatch):
    left = []
    monkeypatch.setattr(line_clock, "trace_class", lambda: lambda name: contextlib.nullcontext(left.append(name)))
    passes = 3 * CELL_LINE_EVENTS
    run(f"for i in range({passes}):\n    x = i\n    sleep(0.005)\n")
    assert (left.count("cell line 1"), left.count("cell line 2")) == (passes + 1, CELL_LINE_EVENTS)


def test_counted_lines_keep_to_their_loop():
    text = "for a in range(20000):\n    x = a\nsleep(0.05)\nfor b in range(20000):\n    y = b\nsleep(0.05)\n"
    result = run(text)
    spent, hits = by_line(result.section, "spent_ns"), by_line(result.section, "hits")
    assert hits == {1: 20001, 2: 20000, 3: 1, 4: 20001, 5: 20000, 6: 1}
    assert spent[3] == spent[6] == 50_000_000 + LOOK_NS  # none of it went to the loops


def test_only_what_is_recorded_counts():
    text = "begin()\nx = 1\nfor i in range(3):\n    y = i\nend()\nz = 1\n"
    lines, tree = CellLines(text), ast.parse(text)
    tree.body = lines.mark(tree.body, "cell.py")
    recording, begun = contextlib.ExitStack(), []
    names = {"begin": lambda: begun.append(recording.enter_context(lines.recorded())), "end": recording.close}
    with lines.running():
        exec(compile(tree, "cell.py", "exec"), names)
    section = begun[0]()
    assert by_line(section, "hits") == {1: 1, 2: 1, 3: 4, 4: 3, 5: 1, 6: 0}
    assert (section["first"], section["last"]) == (1, 5)


def test_the_section_says_what_the_cell_was():
    lines = CellLines("%%tfprofile\nx = 1\n")
    lines.mark(ast.parse("\nx = 1\n").body, "cell.py")
    with lines.recorded() as section:
        pass
    found = section()
    assert (found["text"], found["file"], found["line"], found["first"]) == ("%%tfprofile\nx = 1\n", "cell.py", [2], 0)


def test_outside_of_a_notebook_no_file_is_a_cell():
    with notebook_cells() as gather:
        assert gather() == {}


def test_code_that_a_front_end_runs_has_no_cells_label(monkeypatch):
    """It has the number of the cell that is run next."""
    hidden, cell = "<ipython-input-3-aa>", "<ipython-input-3-bb>"
    text = (6, None, ["x = 1\n"], "")
    cached = {"module.py": text, hidden: text, cell: text}
    names = SimpleNamespace(format_code_name=lambda file: ("Cell", "In[3]") if file in (hidden, cell) else None)
    monkeypatch.setattr("tfprof_nb.capture.notebook._shell", lambda: SimpleNamespace(compile=names))
    monkeypatch.setattr("linecache.cache", cached)
    with notebook_cells() as gather:
        assert gather() == {cell: "In[3]"}
