"""The site: it builds without a warning, each link leads somewhere, no page loads anything from elsewhere."""

from collections import defaultdict
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

import tfprof_nb
from tfprof_nb.views.pages import PAGES

LOADS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}


class Page(HTMLParser):
    """What a page links to, what it loads, and the names of its places."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.places = set(), set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.places.add(value)
            elif (tag, name) in LOADS:
                self.loads.add(value)
            elif (tag, name) == ("a", "href"):
                self.links.add(value)


def test_the_api_page_has_every_public_name_and_result(root):
    text = (root / "docs" / "api.md").read_text(encoding="utf-8")
    names = [f"tfprof_nb.{name}\n" for name in tfprof_nb._public] + [f"tfprof_nb.Profile.{name}\n" for name in PAGES]
    assert [name for name in names if name not in text] == []


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}


@pytest.mark.nightly
def test_every_page_is_there(root, site, pages):
    wanted = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "notebooks").glob("*.ipynb")]
    assert {site / path.relative_to(root).with_suffix(".html") for path in wanted} <= set(pages)
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()


@pytest.mark.nightly
def test_internal_links_lead_to_a_page_and_a_place(pages):
    broken = defaultdict(list)
    for path, page in pages.items():
        for link in page.links | page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = not parts.fragment or target not in pages or parts.fragment in pages[target].places
            if not (target.is_file() and known):
                broken[path.name].append(link)
    assert broken == {}


@pytest.mark.nightly
def test_no_page_loads_from_elsewhere(pages):
    found = {path.name: [link for link in page.loads if "//" in link.partition("?")[0]] for path, page in pages.items()}
    assert {name: links for name, links in found.items() if links} == {}


@pytest.mark.nightly
def test_the_api_page_holds_what_docstrings_parsers_and_makers_say(pages):
    text = next(path for path in pages if path.name == "api.html").read_text(encoding="utf-8")
    for part in ("--max-slowdown", "--warmup", "called_from", "of_groups", "Capture a profile of a block"):
        assert part in text, part
