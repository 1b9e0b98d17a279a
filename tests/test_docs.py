"""What the documentation says is true: its examples run, its links lead somewhere, its pages of rules are current."""

import builtins
import doctest
import importlib.util
import pkgutil
import re
import shutil
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import tfprof_nb
from tfprof_nb.capture.tensorflow import profiler_is_started

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
# An example that cannot run here says why: ```python no-run: the reason
NOT_RUN = re.compile(r" no-run: \w.+")
MOST_NOT_RUN = 8
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
OUTSIDE = ("http://", "https://", "mailto:")
TOOLS = "overview steps input_pipeline tf_data ops kernels memory trace pods source layers flame graph functions advice"

# What the pages' examples may use: docs/README.md says so.
PROGRAM = """
import keras
import tensorflow as tf
import tfprof_nb as tp

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.compile("sgd", "mse")
dataset = tf.data.Dataset.from_tensor_slices((tf.ones((64, 4)), tf.ones((64, 1)))).map(lambda x, y: (2 * x, y)).batch(8)

@tf.function
def train_step(batch):
    x, y = batch
    return tf.reduce_mean((tf.reduce_sum(x, axis=1, keepdims=True) - y) ** 2)

batches = iter(dataset.repeat())
with tp.profile("example") as p:
    model.fit(dataset, epochs=2, verbose=0)
baseline = p
"""


def page_name(path):
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(path):
    return path.read_text(encoding="utf-8")


def blocks_of(path):
    return [SimpleNamespace(kind=kind, about=about, code=code) for kind, about, code in BLOCK.findall(text_of(path))]


def prose_of(path):
    """A page's text without its code, in which brackets are no links."""
    return re.sub(r"`[^`\n]+`", "", BLOCK.sub("", text_of(path)))


@cache
def anchors_of(path):
    """The names that GitHub gives a page's headings."""
    found = []
    for heading in HEADING.findall(BLOCK.sub("", text_of(path))):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.append(name if name not in found else f"{name}-{found.count(name)}")
    return found


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A shell of IPython in which the program above has run and was profiled, in the working folder."""
    patch = pytest.MonkeyPatch()
    patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
    patch.chdir(tmp_path_factory.mktemp("program"))
    patch.setattr(sys, "displayhook", sys.displayhook)
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("load_ext", "tfprof_nb")
    shell.run_cell(PROGRAM).raise_error()
    yield shell
    InteractiveShell.clear_instance()
    patch.undo()


@pytest.mark.tensorflow
@pytest.mark.parametrize("path", [path for path in PAGES if blocks_of(path)], ids=page_name)
def test_a_pages_examples_run_one_after_another(path, shell, tmp_path, monkeypatch):
    shutil.copytree(Path.cwd(), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(builtins, "_", raising=False)  # left by Python's own displayhook, it would shadow the shell's
    program = dict(shell.user_ns)
    for block in blocks_of(path):
        if block.kind in ("python", "ipython") and not block.about:
            with capture_output():
                result = shell.run_cell(block.code)
            result.raise_error()
            assert not profiler_is_started()
    shell.user_ns.clear()
    shell.user_ns.update(program)


def test_examples_that_do_not_run_are_few_and_say_why():
    notes = [block.about for path in PAGES for block in blocks_of(path) if block.kind == "python" and block.about]
    assert all(map(NOT_RUN.fullmatch, notes)), notes
    assert len(notes) <= MOST_NOT_RUN


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_links_lead_to_a_file_and_a_heading_that_exist(path):
    for link in LINK.findall(prose_of(path)):
        if not link.startswith(OUTSIDE):
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.exists(), link
            assert not anchor or anchor in anchors_of(target), link


def test_every_tool_has_a_page_with_a_picture():
    for tool in TOOLS.split():
        assert f"](../images/{tool}.png)" in text_of(ROOT / "docs" / "tools" / f"{tool}.md")


def test_every_picture_is_shown_and_small():
    shown = "".join(map(text_of, PAGES))
    for picture in (ROOT / "docs" / "images").iterdir():
        assert f"images/{picture.name})" in shown
        assert picture.stat().st_size < 150_000


def test_every_page_can_be_reached_from_the_readme():
    reached, found = set(), [ROOT / "README.md"]
    while found:
        path = found.pop()
        reached.add(path)
        links = (link.partition("#")[0] for link in LINK.findall(prose_of(path)) if not link.startswith(OUTSIDE))
        pages = {(path.parent / link).resolve() for link in links if link.endswith(".md")}
        found += pages - reached
    assert {path for path in PAGES if path.parent != ROOT} <= reached


def maker(name):
    """A program that writes pages."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_of_rules_are_what_the_rules_say():
    make_rules = maker("make_rules")
    pages = make_rules.pages()
    assert set(make_rules.FOLDER.glob("*.md")) == set(pages)
    stale = [path.name for path, text in pages.items() if text_of(path) != text]
    assert not stale, "run `.venv/bin/python docs/make_rules.py`"
    assert text_of(make_rules.TOOL) == make_rules.with_table(text_of(make_rules.TOOL))


@pytest.mark.tensorflow
@pytest.mark.parametrize("layer", ["analysis", "decode", "formats", "render", "views"])
def test_the_examples_of_internal_modules_hold(layer):
    """Those of public names are run below, and those of `_units` in its own test."""
    package = importlib.import_module(f"tfprof_nb.{layer}")
    names = sorted(found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
    modules = map(importlib.import_module, names)
    assert not [module.__name__ for module in modules if doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed]


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", tfprof_nb._public)
def test_every_public_name_has_an_example_that_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    public = getattr(tfprof_nb, name)
    home = importlib.import_module(public.__module__)
    (example,) = doctest.DocTestFinder(recurse=False).find(public, name, module=home)
    assert "Examples\n" in public.__doc__
    assert example.examples
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert results.failed == 0
