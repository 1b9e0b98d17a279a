"""Markup: text is escaped by its type, and nothing builds HTML in another way."""

import ast
import doctest
import re

import pytest
from markupsafe import Markup

from tfprof_nb.render import markup
from tfprof_nb.render.html import draw
from tfprof_nb.render.markup import element, empty, join
from tfprof_nb.render.panels import Part, Split

TEXT = "</b><script>\"'&"
ESCAPED = "&lt;/b&gt;&lt;script&gt;&#34;&#39;&amp;"


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(markup).attempted > 0
    assert doctest.testmod(markup).failed == 0


def test_texts_are_escaped_once_wherever_they_stand():
    inner = element("b", TEXT, title=TEXT)
    assert inner == f'<b title="{ESCAPED}">{ESCAPED}</b>'
    assert element("p", inner, TEXT) == f"<p>{inner}{ESCAPED}</p>"
    assert join([inner, TEXT]) == f"{inner}{ESCAPED}"
    assert empty("path", d=TEXT, fill=Markup("&lt;")) == f'<path d="{ESCAPED}" fill="&lt;"/>'
    assert {type(made) for made in (inner, join([TEXT]), empty("path"))} == {Markup}


def test_numbers_that_are_almost_zero_are_escaped_too():
    html = draw(Split("Average step", [Part("input", 100_000.0, "#000000"), Part("other", 1.0, "#000000")]))
    assert "other 1.00 ms (&lt;0.1%)" in html


def is_html(node):
    """Whether a string that is put together from others has a tag in it."""
    texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    joined = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod))
    return joined and any(re.search(r"</?[a-z]", text) for text in texts)


@pytest.mark.parametrize("code", ['f"<b>{x}</b>"', '"<b>" + x', '"<b>%s</b>" % x'])
def test_the_probe_finds_html_that_is_put_together_as_text(code):
    assert any(is_html(node) for node in ast.walk(ast.parse(code)))


def test_no_html_is_put_together_as_text(root):
    folders = [root / "tfprof_nb" / name for name in ("render", "views", "api")]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for folder in folders for path in folder.rglob("*.py")}
    found = [f"{path.name}:{node.lineno}" for path, tree in trees.items() for node in ast.walk(tree) if is_html(node)]
    assert found == []
