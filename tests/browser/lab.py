"""A notebook in a real JupyterLab, driven as a user would: open, run all, look."""

import os
import re
import time
from contextlib import contextmanager, suppress

from playwright.sync_api import Error

# What JupyterLab 4 itself complains about in an empty configuration, and bqplot when the page of a chart is left before
# the chart is drawn: it draws a place without size, and again when the place is shown (`SETTLED` checks that it fits).
NOT_OURS = re.compile(
    r"favicon|Failed to load resource|lsp|ResizeObserver|Unexpected content-type|<rect> attribute \w+: A negative",
    re.IGNORECASE,
)

# Whether to take pictures of what tests see, which takes as long as to see it: what fails is always photographed.
PICTURES = "TFPROF_NB_PICTURES" in os.environ

NOTEBOOK = "const notebook = window.jupyterapp.shell.currentWidget;"
KERNEL = "window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel"
ASK = f"""async (expression) => {{
    const asked = {{code: '', user_expressions: {{answer: expression}}}};
    const reply = await {KERNEL}.requestExecute(asked).done;
    return reply.content.user_expressions.answer.data['text/plain'];
}}"""
STATUS = "notebook?.context?.sessionContext?.session?.kernel?.status"
CLOSE = """() => {
    for (const {context} of [...window.jupyterapp.shell.widgets('main')]) if (context) context.model.dirty = false;
    return window.jupyterapp.commands.execute('application:close-all');
}"""
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# In all views: no page waits for the kernel, no widget lacks its content, and every chart fills its place.
# The words of a page that waits come late, but its element is there at once.
SETTLED = """() => {
    const fits = (chart) => {
        const plot = chart.querySelector('.plotarea_background');
        const left = plot.closest('g').transform.baseVal[0].matrix.e;
        const right = parseFloat(chart.querySelector('.toolbar_div').style.right);
        return Math.abs(left + plot.width.baseVal.value + right - chart.getBoundingClientRect().width) < 1;
    };
    const shown = (query) => [...document.querySelectorAll(query)].filter((node) => node.checkVisibility());
    if (shown('.tfp-view .lm-Widget:empty, .tfp-view .tfp-loading').length) return false;
    const charts = shown('.bqplot.figure');
    return charts.every((chart) => chart.querySelector('.toolbar_div') && fits(chart));
}"""
COLORS = """canvas => {
    const {width, height} = canvas;
    const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
}"""


def page_tabs(view):
    """The tabs of all pages of a dashboard, also those in rows that are not shown."""
    return view.locator(".tfp-strip:visible").first.locator(".tfp-tab:not([id^=tfp-group])")


def open_tab(tab):
    """Click a page's tab, first the tab that it shares with other pages; give the page's name."""
    if not tab.is_visible():
        row = tab.locator("..")
        shared = row.get_attribute("aria-label")
        row.locator("..").get_by_role("tab", name=shared, exact=True).click()
    tab.click()
    return tab.get_attribute("title") or tab.inner_text()


def open_page(view, name):
    """Open a page of a dashboard as a reader does."""
    tabs = page_tabs(view)
    named = tabs.filter(has_text=re.compile(f"^{re.escape(name)}$"))
    open_tab(named.or_(tabs.and_(view.get_by_title(name, exact=True))))


class Lab:
    """One browser page that shows one notebook.

    ``errors`` collects what the page's scripts complained about.
    """

    def __init__(self, page, url, artifacts, timeout_s):
        self.page, self.url, self.artifacts, self._timeout_s = page, url, artifacts, timeout_s
        self.console, self.errors = [], []
        page.set_default_timeout(timeout_s * 1000)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _on_console(self, message):
        self.console.append(f"{message.type}: {message.text}")
        if message.type == "error" and not NOT_OURS.search(message.text):
            self.errors.append(message.text)

    def open(self, name):
        """Show the notebook of that name and wait until its kernel is ready."""
        self.page.goto(f"{self.url}/doc/tree/{name}?reset")
        self.page.wait_for_function(
            f"() => {{ if (!window.jupyterapp) return false; {NOTEBOOK} return {STATUS} === 'idle' }}"
        )

    def execute(self, command, **arguments):
        """Run one of JupyterLab's commands and wait until it has finished."""
        self.page.evaluate(
            "([command, args]) => window.jupyterapp.commands.execute(command, args)", [command, arguments]
        )

    def run_all(self):
        """Run all cells and wait until the kernel is idle again; a cell that raises fails the test."""
        self.page.evaluate(
            "() => { window.ran = false; window.jupyterapp.commands.execute('notebook:run-all-cells')"
            ".finally(() => { window.ran = true }); }"
        )
        self.page.wait_for_function(f"() => {{ {NOTEBOOK} return window.ran && {STATUS} === 'idle' }}")
        raised = [output for output in self.outputs() if output["output_type"] == "error"]
        assert not raised, "\n".join(raised[0]["traceback"])

    def change_theme(self, name):
        """Choose the theme "Light" or "Dark" and wait until the page is shown in it."""
        self.execute("apputils:change-theme", theme=f"JupyterLab {name}")
        shown = "document.body.dataset.jpThemeName === theme && document.getElementById('main').checkVisibility()"
        self.page.wait_for_function(f"(theme) => {shown}", arg=f"JupyterLab {name}")
        self.wait_until_settled()

    def wait_until_settled(self):
        """Wait until all views in the page are complete and painted."""
        self.page.wait_for_function(SETTLED)
        self.page.evaluate(FRAMES)

    def wait_for(self, locator, condition):
        """Wait until a JavaScript function of the element returns true."""
        self.page.wait_for_function(condition, arg=locator.element_handle())

    def wait_until(self, condition):
        """Wait until a function returns true, for states that neither a selector nor the page's own code describes."""
        deadline = time.monotonic() + self._timeout_s
        while not condition():
            assert time.monotonic() < deadline, "the state did not come"
            self.page.evaluate(FRAMES)

    def ask(self, expression):
        """Return the text of an expression's value in the kernel."""
        return self.page.evaluate(ASK, expression)

    def outputs(self):
        """The outputs of all cells, as they would be saved."""
        cells = self.page.evaluate(f"() => {{ {NOTEBOOK} return notebook.context.model.toJSON().cells }}")
        return [output for cell in cells for output in cell.get("outputs", [])]

    def save(self):
        """Write the notebook, outputs included, to its file."""
        self.execute("docmanager:save")

    def open_empty(self):
        """Show JupyterLab without a notebook: it takes long to begin, and notebooks open in it quickly."""
        self.page.goto(f"{self.url}/lab?reset")
        self.page.wait_for_function("() => window.jupyterapp?.restored.then(() => true)")

    def open_alone(self, name, *, kernel):
        """Show a saved notebook in the place of the one before, with a kernel or as it is read where nothing runs."""
        self.page.evaluate(CLOSE)
        self.execute("docmanager:open", path=name, kernelPreference={"shouldStart": kernel, "canStart": kernel})
        state = f"{STATUS} === 'idle'" if kernel else f"!{STATUS}"
        opened = f"notebook?.context?.path === name && notebook.context.isReady && {state}"
        self.page.wait_for_function(f"(name) => {{ {NOTEBOOK} return {opened} }}", arg=name)

    def colors(self, canvas):
        """How many different colours a canvas shows."""
        return canvas.evaluate(COLORS)

    def wait_for_colors(self, canvas, count):
        """Wait until a canvas shows more different colours than that."""
        self.wait_for(canvas, f"(canvas) => ({COLORS})(canvas) > {count}")

    def screenshot(self, name, width=1280, *, settled=True):
        """Store what the page shows as ``build/screenshots/NAME.png``, where pictures are wanted."""
        if PICTURES:
            self._photograph(name, width, settled=settled)
        elif settled:
            self.wait_until_settled()

    def _photograph(self, name, width=1280, *, settled):
        """Take a picture of the whole notebook, as far as it can be."""
        scroller = self.page.locator(".jp-WindowedPanel-outer").first
        height = scroller.evaluate("element => element.scrollHeight")
        self.page.set_viewport_size({"width": width, "height": min(max(800, height + 120), 8000)})
        scroller.evaluate("element => element.scrollTo(0, 0)")
        if settled:
            self.wait_until_settled()
        self.page.screenshot(path=self.artifacts / f"{name}.png")
        self.page.set_viewport_size({"width": width, "height": 900})

    @contextmanager
    def evidence(self, name):
        """Leave a screenshot and the console's log behind when the block fails."""
        try:
            yield self
        except BaseException:
            (self.artifacts / f"{name}-console.log").write_text("\n".join(self.console + self.errors), encoding="utf-8")
            with suppress(Error):  # a page that is gone can't be photographed
                self._photograph(f"{name}-failed", settled=False)
            raise


class Notebook7(Lab):
    """One browser page of Notebook 7."""

    def open(self, name):
        self.page.goto(f"{self.url}/notebooks/{name}")
        self.page.wait_for_function("() => window.jupyterapp?.shell.currentWidget")
        self.page.wait_for_function(f"() => {{ {NOTEBOOK} return {STATUS} === 'idle' }}")
