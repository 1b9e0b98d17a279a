"""The site in a browser, light and dark: nothing fails or comes from elsewhere, outputs can be read, search finds."""

import re

import pytest

pytestmark = pytest.mark.nightly

# Of text, by WCAG 2.
LEAST_CONTRAST = 4.5
PAGES = ("index", "docs/api", "docs/tools/advice", "docs/troubleshooting", "notebooks/00_quickstart")
COLOURS = """(element) => {
    const ground = (at) => {
        for (; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (!colour.startsWith("rgba")) return colour; // what is see-through is at most a veil of 12%
        }
        return "rgb(255, 255, 255)";
    };
    return [getComputedStyle(element).color, ground(element)];
}"""


def luminance(colour):
    """The relative luminance of a CSS colour without transparency, by WCAG 2."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(text, ground):
    darker, lighter = sorted(map(luminance, (text, ground)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.fixture(params=["light", "dark"])
def seen(request, chromium, site, artifacts):
    """A page in a scheme, and what went wrong or was asked of elsewhere."""
    context = chromium.new_context(color_scheme=request.param, viewport={"width": 1280, "height": 900})
    page, said = context.new_page(), []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("requestfailed", lambda request: said.append(request.url))
    page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    yield page, said
    page.screenshot(path=artifacts / f"site-{request.param}.png")
    context.close()


def test_pages_need_nothing_and_outputs_can_be_read(seen, site):
    page, said = seen
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        page.locator("h1").first.wait_for()
    outputs = page.locator(".cell_output .text_html :is(h1, h2, h3, p, pre, code):visible")
    assert outputs.count() > 5
    colours = [outputs.nth(k).evaluate(COLOURS) for k in range(outputs.count())]
    assert [pair for pair in colours if contrast(*pair) < LEAST_CONTRAST] == []
    assert said == []


def test_search_finds_a_rule(seen, site):
    page, _ = seen  # from a file, a browser does not fetch the lines that stand below each result
    page.goto(f"{(site / 'search.html').as_uri()}?q=prefetch")
    page.locator("#search-results a[href*='no-prefetch']").first.wait_for()
