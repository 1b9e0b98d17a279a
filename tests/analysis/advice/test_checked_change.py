"""Code is shown only where it was put into the program's text: what fits there, and what must not stand there."""

import textwrap
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tfprof_nb.analysis.advice.checked_change import checked, checked_change
from tfprof_nb.analysis.advice.rule import Finding
from tfprof_nb.analysis.source.changed_text import changed_text
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.decode.sections.cell import NameObject, Names

RETURN = "def on_epoch_end(self, epoch, logs=None):\n    if epoch % 5:\n        return"
TRACED = "@tf.function\ndef step(x):"

FITS = {
    "a line": ("a = 1\nf(a)\n", 2, "g(a)", "a = 1\ng(a)\n"),
    "without a last line's end": ("f(a)", 1, "g(a)", "g(a)"),
    "ends of lines of Windows": ("a = 1\r\nf(a)\r\nb = 2\r\n", 2, "g(a)", "a = 1\r\ng(a)\r\nb = 2\r\n"),
    "a call of several lines": ("f(\n  1,\n  2,\n)\ng()", 1, "f(\n  1\n)", "f(\n  1\n)\ng()"),
    "a call in a chain": (
        "ds = (a\n  .map(f)\n  .batch(8))\nx = 1",
        2,
        ".map(f, num_parallel_calls=4)",
        "ds = (a\n  .map(f, num_parallel_calls=4)\n  .batch(8))\nx = 1",
    ),
    "a call with a lambda over lines": (
        "ds = (a\n  .map(lambda x:\n       f(x))\n  .batch(8))",
        2,
        ".map(lambda x:\n     f(x)).cache()",
        "ds = (a\n  .map(lambda x:\n       f(x)).cache()\n  .batch(8))",
    ),
    "a line that goes on": ("a = f(1) + \\\n    2\nb = a", 1, "a = g(1) + \\", "a = g(1) + \\\n    2\nb = a"),
    "the head of a function": (
        "def step(x):\n    return x\nstep(1)",
        1,
        TRACED,
        "@tf.function\ndef step(x):\n    return x\nstep(1)",
    ),
    "the head of a nested function": (
        "def make():\n  def step(x):\n    return x\n  return step",
        2,
        TRACED,
        "def make():\n  @tf.function\n  def step(x):\n    return x\n  return step",
    ),
    "a head of several lines": (
        "def step(x,\n         y):\n    return x",
        1,
        "@tf.function\ndef step(x,",
        "@tf.function\ndef step(x,\n         y):\n    return x",
    ),
    "a function of one line": (
        "def step(x): return x\ny = 1",
        1,
        "@tf.function\ndef step(x): return x",
        "@tf.function\ndef step(x): return x\ny = 1",
    ),
    "a whole function behind what was moved out": (
        "@tf.function\ndef step(x):\n    k = inv(p)\n    return k @ x\nstep(1)",
        1,
        "k = inv(p)\n\n@tf.function\ndef step(x):\n    return k @ x",
        "k = inv(p)\n\n@tf.function\ndef step(x):\n    return k @ x\nstep(1)",
    ),
    "a method's beginning, 2 spaces": (
        "class A(B):\n  def on_epoch_end(self, epoch, logs=None):\n    work()\n",
        2,
        RETURN,
        "class A(B):\n  def on_epoch_end(self, epoch, logs=None):\n    if epoch % 5:\n      return\n    work()\n",
    ),
    "a method's beginning, tabs": (
        "class A(B):\n\tdef on_epoch_end(self, epoch, logs=None):\n\t\twork()\n",
        2,
        RETURN,
        "class A(B):\n\tdef on_epoch_end(self, epoch, logs=None):\n\t\tif epoch % 5:\n\t\t\treturn\n\t\twork()\n",
    ),
    "a method of a nested class, 3 spaces": (
        "if a:\n   class A(B):\n      def f(self, k):\n         work()\n",
        3,
        "def f(self, k):\n    if k:\n        return",
        "if a:\n   class A(B):\n      def f(self, k):\n         if k:\n            return\n         work()\n",
    ),
    "the head of a loop": ("for x in a:\n\tf(x)", 1, "for x in b:", "for x in b:\n\tf(x)"),
    "a loop of one line": (
        "for x in ds: f(x)\ny = 1",
        1,
        "for x in ds.take(2): f(x)",
        "for x in ds.take(2): f(x)\ny = 1",
    ),
    "the head of a block": (
        "with tape(persistent=True) as t:\n  y = f(x)",
        1,
        "with tape() as t:",
        "with tape() as t:\n  y = f(x)",
    ),
    "a comment at the end of a line": ("f(a)  # why\ng()", 1, "h(a)  # why", "h(a)  # why\ng()"),
    "one of two statements of a line": ("a = 1; f(a)", 1, "a = 1; g(a)", "a = 1; g(a)"),
    "an import, below the magics": (
        "%%tfprofile\n%matplotlib inline\nx = 1\nf(x)",
        4,
        "import functools\ng(x)",
        "%%tfprofile\n%matplotlib inline\nimport functools\nx = 1\ng(x)",
    ),
    "an import above a method": (
        '"""A."""\nfrom __future__ import division\nimport o\nclass A:\n  def f(self):\n    pass',
        5,
        "import g\n@g.cache\ndef f(self):",
        '"""A."""\nfrom __future__ import division\nimport g\nimport o\nclass A:\n  @g.cache\n  def f(self):\n    pass',
    ),
    "an import that is there": ("import g\nf(x)", 2, "import g\ng.f(x)", "import g\ng.f(x)"),
    "commands and magics": (
        "!pip install \\\n  keras\nfiles = !ls\nif new:\n  %time f(x)\ng(x)\nhelp?\nprint('%d'\n  % 3)",
        6,
        "h(x)",
        "!pip install \\\n  keras\nfiles = !ls\nif new:\n  %time f(x)\nh(x)\nhelp?\nprint('%d'\n  % 3)",
    ),
    "a text of several lines": ('if x:\n  f("""a\n    b""")\n', 2, 'g("""a\n    b""")', 'if x:\n  g("""a\n    b""")\n'),
    "await in a cell": ("x = await f()\ng(x)", 2, "h(x)", "x = await f()\nh(x)"),
    "a form feed in a text": ("a = 'x\fy'\nf(a)", 2, "g(a)", "a = 'x\fy'\ng(a)"),
    "a decorated method": (
        "class A:\n  @property\n  def f(self):\n    return 1",
        3,
        "@cache\ndef f(self):",
        "class A:\n  @property\n  @cache\n  def f(self):\n    return 1",
    ),
}


@pytest.mark.parametrize(("text", "line", "change", "whole"), FITS.values(), ids=FITS)
def test_a_change_in_its_place(text, line, change, whole):
    changed = changed_text(text, line, change)
    assert (changed.text, changed.why_not) == (whole, "")
    put = changed.text.split("\n")[changed.first - 1 : changed.last]
    assert textwrap.dedent("\n".join(put)).split()[0] in change


DOES_NOT_FIT = {
    "a cell that is no Python": ("f(a", 1, "g(a)", "the text is no Python"),
    "no such line": ("f(a)", 2, "g(a)", "the text has no line 2"),
    "what stands there": ("f(a)  # now", 1, "f(a)", "the code stands there already"),
    "no code": ("f(a)", 1, "import g", "there is no code to put there"),
    "a return outside of functions": ("f(a)\ng()", 1, "return", "'return' outside function"),
    "a statement that would be lost": ("a = 1; b = 2", 1, "c = 3", "the code does not fit into line 1"),
    "a body that would be lost": ("for x in y: f(x)", 1, "g(y)", "the code does not fit into line 1"),
    "a block in the place of a line": ("x = [\n  1,\n]", 2, "f(\n", "the code does not fit into line 2"),
    "a head that swallows what follows": ("f(a)\nif b:\n  c()", 1, "if a:", "the code does not fit into line 1"),
}


@pytest.mark.parametrize(("text", "line", "change", "why"), DOES_NOT_FIT.values(), ids=DOES_NOT_FIT)
def test_a_change_that_has_no_place(text, line, change, why):
    assert changed_text(text, line, change) == ("", why, 0, 0, 0)


def names(**kinds):
    modules = {"tf": "tensorflow", "np": "numpy"}
    objects = {name: NameObject(modules.get(name, kind), kind) for name, kind in kinds.items()}
    return Names("", {("", name): one for name, one in objects.items()})


SETUP = "import tensorflow as tf\nimport numpy as np\n"
KNOWN = names(tf="module", net="model", x="array", ds="dataset", gen="generator", train="function")
FUSED = "ds = files.map(read).cache()"

SHOWN = {
    "a name of the cell": ("k = 3\nf(1)", 2, "f(k)", None, "f(k)"),
    "of the function around": ("def g(k):\n    f(1)", 2, "f(k)", None, "f(k)"),
    "unpacked in a loop's head": ("for i, (a, b) in data:\n    f(a)", 2, "f(a, b)", None, "f(a, b)"),
    "of a comprehension": ("y = f(x)", 1, "y = [f(k) for k in x]", None, "y = [f(k) for k in x]"),
    "of a lambda": ("y = f(x)", 1, "y = f(lambda k: k + 1)", None, "y = f(lambda k: k + 1)"),
    "of with": ("with open(p) as h:\n    f(1)", 2, "f(h)", None, "f(h)"),
    "below, in a function": ("def g():\n    f(1)\nk = 3", 2, "f(k)", None, "f(k)"),
    "of another cell": ("f(1)", 1, "f(k)", names(k="int"), "f(k)"),
    "a module that is missing": ("f(1)", 1, "f(tf.constant(1))", None, "import tensorflow as tf\nf(tf.constant(1))"),
    "a module of another cell": ("f(1)", 1, "f(tf.constant(1))", KNOWN, "f(tf.constant(1))"),
    "the file's own units": ("class A:\n  def f(self):\n    g()", 3, "if k:\n    g()", names(k="int"), "if k:\n  g()"),
    "a model": ("net.predict(x)", 1, "net.predict_on_batch(x)", KNOWN, "net.predict_on_batch(x)"),
    "a pipeline for training": (
        "ds = files.map(read)\nnet.fit(ds)",
        1,
        "ds = files.map(read).cache().shuffle(9)",
        None,
        "ds = files.map(read).cache().shuffle(9)",
    ),
}


@pytest.mark.parametrize(("text", "line", "change", "known", "shown"), SHOWN.values(), ids=SHOWN)
def test_what_is_shown(text, line, change, known, shown):
    assert checked_change(Code({"cell": text}, known), "cell", line, change) == (shown, "")


NOT_SHOWN = {
    "a name that is not there": ("sess.run(y)", 1, "session.run([y, z])", None, "`session` is not bound there"),
    "of another function": ("def a(k):\n    pass\ndef b():\n    f(1)", 4, "f(k)", None, "`k` is not bound there"),
    "below the place": ("f(1)\nk = 3", 1, "f(k)", None, "`k` is not bound there"),
    "another module": ("import torch as tf\nf(1)", 2, "f(tf.constant(1))", None, "`tf` is not tensorflow there"),
    "an old TensorFlow": (
        "import tensorflow.compat.v1 as tf\nf(1)",
        2,
        "f(tf.constant(1))",
        None,
        "`tf` is not tensorflow there",
    ),
    "no module": ("f(1)", 1, "f(tf.constant(1))", names(tf="function"), "`tf` is not tensorflow there"),
    "no model": ("train.fit(x)", 1, "train.fit(x, batch_size=9)", KNOWN, "`train` is no model"),
    "a generator": ("net.predict(gen)", 1, "net.predict_on_batch(gen)", KNOWN, "`gen` is no array"),
    "a dataset": ("net.predict(ds)", 1, "net.predict_on_batch(ds)", KNOWN, "`ds` is no array"),
    "a dataset by the text": ("d = a.batch(8)\nnet.predict(d)", 2, "net.predict_on_batch(d)", None, "`d` is no array"),
    "no dataset": ("x.map(f)", 1, "x.map(f).cache()", None, None),
    "a default": ("TensorBoard(p)", 1, "TensorBoard(p, update_freq='epoch')", None, "update_freq='epoch' is in force"),
    "the usual batch": ("net.fit(x)", 1, "net.fit(x, batch_size=32)", KNOWN, "batch_size=32 is in force already"),
    "another order for predict": (
        "ds = files.map(read)\nnet.predict(ds)",
        1,
        "ds = files.map(read).shuffle(9)",
        None,
        "predict or evaluate would get other rows",
    ),
    "another order in predict": (
        "net.predict(files.map(read))",
        1,
        "net.predict(files.map(read).shuffle(9))",
        None,
        "predict or evaluate would get other rows",
    ),
    "fewer rows for evaluate": (
        "ds = files.batch(8)\nprint(net.evaluate(ds.prefetch(1)))",
        1,
        "ds = files.batch(8, drop_remainder=True)",
        None,
        "predict or evaluate would get other rows",
    ),
    "chance that is kept": (
        "def read(x):\n    return x * tf.random.uniform(())\nds = files.map(read)",
        3,
        FUSED,
        None,
        "what is drawn at random would be kept",
    ),
    "batches that are mixed": (
        "ds = files.batch(8).map(read)",
        1,
        "ds = files.batch(8).map(read).cache().shuffle(9)",
        None,
        "the shuffle would mix batches",
    ),
}


@pytest.mark.parametrize(("text", "line", "change", "known", "why"), NOT_SHOWN.values(), ids=NOT_SHOWN)
def test_what_is_not_shown(text, line, change, known, why):
    shown, said = checked_change(Code({"cell": text}, known), "cell", line, change)
    if why is None:  # nothing is known against it
        assert (shown, said) == (change, "")
    else:
        assert (shown, said[: len(why)]) == ("", why)


def test_a_file_that_is_gone_gives_no_code():
    assert checked_change(Code({}), "train.py", 3, "f(k)") == ("", "the text of the program is not known")


@pytest.mark.parametrize(("other_words", "told"), [("", "Use larger batches."), ("Do not.", "Do not.")])
def test_a_change_that_does_not_hold_leaves_the_rules_words_for_that(other_words, told):
    evidence = SimpleNamespace(code=Code({"cell": "train.fit(x)"}, KNOWN))
    finding = Finding(
        "high",
        "The steps are small",
        "",
        "Use larger batches.",
        place="cell line 1",
        change="train.fit(x, batch_size=99)",
        without_change=other_words,
    )
    words = checked(evidence, finding)
    assert (words.change, words.fix) == ("", told)
    holds = checked(evidence, replace(finding, change="net.fit(x, batch_size=99)"))
    assert (holds.change, holds.fix) == ("net.fit(x, batch_size=99)", "Use larger batches.")
