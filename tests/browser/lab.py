"""A notebook in a real JupyterLab, driven as a user would: open, run all, look."""

import re
import time
from contextlib import contextmanager, suppress

from playwright.sync_api import Error

# What JupyterLab 4 itself complains about in an empty configuration.
NOT_OURS = re.compile(r"favicon|Failed to load resource|lsp|ResizeObserver|Unexpected content-type", re.IGNORECASE)

NOTEBOOK = "const notebook = window.jupyterapp.shell.currentWidget;"
STATUS = "notebook?.context?.sessionContext?.session?.kernel?.status"


class Lab:
    """One browser page that shows one notebook.

    ``errors`` collects what the page's scripts complained about.
    """

    def __init__(self, page, url, artifacts, timeout_s):
        self.page, self.url, self.artifacts, self.timeout_s = page, url, artifacts, timeout_s
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

    def wait_until(self, condition):
        """Wait until ``condition()`` holds; it may look at the page."""
        deadline = time.monotonic() + self.timeout_s
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            self.page.wait_for_timeout(200)

    def outputs(self):
        """The outputs of all cells, as they would be saved."""
        cells = self.page.evaluate(f"() => {{ {NOTEBOOK} return notebook.context.model.toJSON().cells }}")
        return [output for cell in cells for output in cell.get("outputs", [])]

    def save(self):
        """Write the notebook, outputs included, to its file."""
        self.execute("docmanager:save")

    def open_without_kernel(self, name):
        """Show a saved notebook as it is read where nothing runs."""
        self.page.goto(f"{self.url}/lab?reset")
        self.page.wait_for_function("() => window.jupyterapp?.restored.then(() => true)")
        self.execute("docmanager:open", path=name, kernelPreference={"shouldStart": False, "canStart": False})
        self.page.wait_for_function(f"() => {{ {NOTEBOOK} return notebook?.context?.isReady && !{STATUS} }}")

    def colors(self, canvas):
        """How many different colours a canvas shows."""
        return canvas.evaluate("""canvas => {
            const {width, height} = canvas;
            const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
            return new Set(new Uint32Array(pixels.buffer)).size;
        }""")

    def screenshot(self, name, width=1280):
        """Store what the page shows as ``build/screenshots/NAME.png``: the whole notebook, as far as it can be."""
        scroller = self.page.locator(".jp-WindowedPanel-outer").first
        height = scroller.evaluate("element => element.scrollHeight")
        self.page.set_viewport_size({"width": width, "height": min(max(800, height + 120), 8000)})
        scroller.evaluate("element => element.scrollTo(0, 0)")
        self.page.wait_for_timeout(500)  # charts follow the new size
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
                self.screenshot(f"{name}-failed")
            raise


class Notebook7(Lab):
    """One browser page of Notebook 7."""

    def open(self, name):
        self.page.goto(f"{self.url}/notebooks/{name}")
        self.page.wait_for_function("() => window.jupyterapp?.shell.currentWidget")
        self.page.wait_for_function(f"() => {{ {NOTEBOOK} return {STATUS} === 'idle' }}")
