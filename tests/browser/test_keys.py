"""Keys stay with the viewer under the pointer and with the widget that has the focus: no shortcut of the notebook runs.

In JupyterLab and in Notebook 7, each in command and in edit mode.
"""

import nbformat
import pytest

from browser.conftest import TIMEOUT_S
from browser.lab import FRAMES, NOTEBOOK, STATUS, Lab, Notebook7, open_page, open_tab, page_tabs
from builders import XSpace

pytestmark = pytest.mark.timeout(1800)

SHOW = """import tfprof_nb as tp
profile = tp.load([{files}], name='keys')
profile.dashboard()"""
CELLS = ["first = 1", SHOW, "last = 1", "tp.CaptureDialog('127.0.0.1:1')"]
SHOWN, EDITED = 1, 2

NAVIGATION = ("w", "w", "s", "a", "d", "d", "d", "0", "0", "0", "f", "i", "i", "1", "3", "4", "2", "?", "?")
EVENTS = ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "m", "m", "Enter", "Enter", "Shift+Enter", "Shift+Enter")
OTHER = ("PageDown", "PageUp", "Home", "End", "Space", "Delete", "Backspace", "Escape", "Escape")
# In command mode these cut, copy, paste, add, change and merge cells, undo, redo, save, and stop or restart the kernel.
NOTEBOOK_S = ("x", "c", "v", "V", "a", "b", "z", "Z", "y", "r", "m", "l", "L", "o", "h", "j", "k", "s", "M", "J", "K")
DANGEROUS = ("d", "d", "0", "0", *("i", "i"), *NOTEBOOK_S)
VIEWER_S = (*NAVIGATION, *EVENTS, *OTHER)

# What else has keys, by the page that shows it.
HOVERED = [
    ("Steps", ".tfp-grid"),
    ("Steps", ".tfp-strip"),
    ("Flame graph", ".tfp-flame-boxes"),
    ("Pods", "input[type=range]"),
    ("Flame graph", "select"),
]

STATE = f"""() => {{
    {NOTEBOOK}
    const cells = notebook.context.model.toJSON().cells.map((cell) => [cell.cell_type, cell.source]);
    const {{mode, activeCellIndex, selectedCells}} = notebook.content;
    const dialogs = document.querySelectorAll('.jp-Dialog').length;
    return {{cells, mode, activeCellIndex, selected: selectedCells.length, dialogs}};
}}"""
IDLE = f"() => {{ {NOTEBOOK} return {STATUS} === 'idle' }}"
# Which commands ran, and after which keys something changed in the notebook or in what is chosen of it.
LISTEN = f"""() => {{
    {NOTEBOOK}
    let key = '';
    window.addEventListener('keydown', (event) => {{ key = event.key; }}, true);
    window.executed = [];
    window.changes = [];
    window.jupyterapp.commands.commandExecuted.connect((_, {{id}}) => {{ window.executed.push(id); }});
    const {{content, context}} = notebook;
    for (const signal of [context.model.contentChanged, content.stateChanged, content.selectionChanged]) {{
        signal.connect(() => {{ window.changes.push(key); }});
    }}
}}"""
# The kind of an element, its classes, and the number of its widget in the page.
KIND = """(element) => {
    const widget = element.closest('.lm-Widget');
    const number = [...document.querySelectorAll('.lm-Widget')].indexOf(widget);
    return [element.getAttribute('role') || element.type || element.tagName, element.className, number];
}"""
FOCUSABLE = "a[href], button, input, select, summary, [tabindex]"


def profile(path):
    """Five steps on two threads; what they wait for, and their ops."""
    space = XSpace()
    host = space.plane("/host:CPU")
    python, other = host.line("python", line_id=1), host.line("tf_Compute", line_id=2)
    for step in range(5):
        python.event("train", start_us=1000 * step, duration_us=900, step_num=step, _r=1)
        python.event("IteratorGetNextOp::DoCompute", start_us=1000 * step + 5, duration_us=400)
        other.event("MatMul:MatMul", start_us=1000 * step + 500, duration_us=200)
        other.event("Relu:Relu", start_us=1000 * step + 750, duration_us=100)
    return str(space.write(path))


@pytest.fixture(
    scope="module",
    params=[pytest.param(Lab, id="lab"), pytest.param(Notebook7, marks=pytest.mark.nightly, id="notebook7")],
)
def notebook(request, chromium, server_url, notebooks_folder, artifacts):
    """A notebook with a dashboard between other cells, and a capture dialog."""
    name = f"keys-{request.param.__name__.lower()}"
    files = ", ".join(repr(profile(notebooks_folder / name / f"{host}.xplane.pb")) for host in ("one", "two"))
    cells = [nbformat.v4.new_code_cell(text.format(files=files)) for text in CELLS]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), notebooks_folder / f"{name}.ipynb")
    context = chromium.new_context(viewport={"width": 1280, "height": 1200})
    context.clock.install()
    opened = request.param(context.new_page(), server_url, artifacts, TIMEOUT_S)
    with opened.evidence(name):
        opened.open(f"{name}.ipynb")
        opened.run_all()
        opened.page.locator(".tfp-tabs").first.wait_for()
        opened.page.evaluate(LISTEN)
    yield opened
    context.close()


@pytest.fixture
def canvas(notebook):
    """The timeline in view; the pointer is elsewhere."""
    view = notebook.page.locator(".tfp-view").first
    open_page(view, "Trace")
    canvas = view.locator(".tfp-canvas").first
    canvas.wait_for()
    canvas.evaluate("(canvas) => canvas.scrollIntoView({block: 'center'})")
    notebook.page.mouse.move(2, 400)
    notebook.page.evaluate(FRAMES)
    return canvas


def enter(notebook, mode):
    """Put the notebook into a mode, as it is when nothing in its outputs has the focus."""
    notebook.page.evaluate(
        f"""([mode, cell]) => {{
            {NOTEBOOK}
            notebook.content.activeCellIndex = cell;
            notebook.content.mode = mode;
            notebook.content.activate();
        }}""",
        [mode, EDITED],
    )
    focused = "() => document.activeElement.matches('.cm-content')"
    notebook.wait_until(lambda: notebook.page.evaluate(focused) == (mode == "edit"))
    notebook.page.evaluate("() => { window.executed.length = window.changes.length = 0; }")


def pause(notebook):
    """Let 1.1 s pass on the page's clock: longer than between two keys that somebody types."""
    notebook.page.clock.fast_forward(1100)
    notebook.page.evaluate(FRAMES)


def hover(notebook, canvas):
    """Move onto the timeline as a hand does, without a click."""
    box = canvas.bounding_box()
    pause(notebook)
    notebook.page.mouse.move(box["x"] + 400, box["y"] + 20)
    notebook.page.mouse.move(box["x"] + 440, box["y"] + 60, steps=4)


def visible_time(notebook):
    return notebook.page.locator(".tfp-trace .tfp-toolbar .tfp-push").first.inner_text()


def executed(notebook):
    """The commands that ran since the notebook entered its mode."""
    pause(notebook)  # "d" and "0" wait for a second one
    return notebook.page.evaluate("() => window.executed")


def press_all(notebook, before):
    """Press all keys; nothing changes in the notebook, not even for a moment."""
    for key in (*VIEWER_S, *DANGEROUS):
        notebook.page.keyboard.press(key)
    assert notebook.page.evaluate("() => window.changes") == []
    assert notebook.page.evaluate(STATE) == before


@pytest.mark.parametrize("mode", ["command", "edit"])
def test_a_hovered_viewer_has_the_keyboard(notebook, canvas, mode):
    with notebook.evidence(f"keys-hover-{mode}"):
        enter(notebook, mode)
        before = notebook.page.evaluate(STATE)
        scrolled = canvas.bounding_box()
        hover(notebook, canvas)
        notebook.page.keyboard.press("0")
        everything = visible_time(notebook)
        notebook.page.keyboard.press("w")
        assert visible_time(notebook) != everything
        notebook.page.keyboard.press("0")
        assert visible_time(notebook) == everything
        press_all(notebook, before)
        assert canvas.bounding_box() == scrolled
        assert executed(notebook) == []
        notebook.wait_until(lambda: notebook.page.evaluate(IDLE))


@pytest.mark.parametrize("mode", ["command", "edit"])
@pytest.mark.parametrize(("page", "selector"), HOVERED)
def test_what_else_has_keys_takes_them_under_the_pointer_and_gives_them_back(notebook, page, selector, mode):
    with notebook.evidence(f"keys-over-{page}-{mode}"):
        view = notebook.page.locator(".tfp-view").first
        open_page(view, page)
        element = view.locator(f"{selector} >> visible=true").first
        element.wait_for()
        notebook.wait_until_settled()
        element.evaluate("(element) => element.scrollIntoView({block: 'center'})")
        notebook.page.mouse.move(2, 400)
        enter(notebook, mode)
        before = notebook.page.evaluate(STATE)
        pause(notebook)
        box = element.bounding_box()
        notebook.page.mouse.move(box["x"] + 10, box["y"] + 8)
        notebook.page.mouse.move(box["x"] + 60, box["y"] + 10, steps=4)
        press_all(notebook, before)
        assert executed(notebook) == []
        notebook.page.mouse.move(2, 400)
        if mode == "command":
            notebook.page.keyboard.press("c")
            assert executed(notebook) == ["notebook:copy-cell"]
        else:
            notebook.page.keyboard.press("End")
            notebook.page.keyboard.type("2")
            assert notebook.page.evaluate(STATE)["cells"][EDITED] == ["code", "last = 12"]
            notebook.page.keyboard.press("Backspace")
        view.locator("select").first.select_option(index=0)  # keys over a menu choose in it


@pytest.mark.parametrize("mode", ["command", "edit"])
def test_the_search_gives_the_focus_back(notebook, canvas, mode):
    with notebook.evidence(f"keys-search-{mode}"):
        enter(notebook, mode)
        before = notebook.page.evaluate(STATE)
        hover(notebook, canvas)
        notebook.page.keyboard.press("/")
        notebook.page.keyboard.type("relu dd")
        search = notebook.page.locator(".tfp-trace").get_by_role("searchbox")
        assert search.input_value() == "relu dd"
        notebook.page.keyboard.press("Enter")
        notebook.page.keyboard.press("Shift+Enter")
        notebook.page.keyboard.press("Escape")
        assert search.input_value() == ""
        assert notebook.page.evaluate(STATE) == before
        assert executed(notebook) == []


def test_a_pointer_that_leaves_gives_the_keyboard_back(notebook, canvas):
    with notebook.evidence("keys-leave"):
        for mode in ("command", "edit"):
            enter(notebook, mode)
            hover(notebook, canvas)
            notebook.page.keyboard.press("w")
            shown = visible_time(notebook)
            notebook.page.mouse.move(2, 400)
            notebook.page.keyboard.press("a")
            assert visible_time(notebook) == shown
            if mode == "command":
                notebook.wait_until(lambda: len(notebook.page.evaluate(STATE)["cells"]) == len(CELLS) + 1)
                notebook.execute("notebook:undo-cell-action")
            else:
                assert notebook.page.evaluate(STATE)["cells"][EDITED][1] in ("alast = 1", "last = 1a")
                notebook.page.keyboard.press("Backspace")
        assert notebook.page.evaluate(STATE)["cells"][EDITED] == ["code", "last = 1"]


def test_typing_is_not_lost_to_a_viewer_under_a_resting_or_nudged_pointer(notebook, canvas):
    with notebook.evidence("keys-typing"):
        box = canvas.bounding_box()
        notebook.page.mouse.move(box["x"] + 400, box["y"] + 60)
        enter(notebook, "edit")
        shown = visible_time(notebook)
        notebook.page.keyboard.press("End")
        notebook.page.keyboard.type("2")
        notebook.page.mouse.move(box["x"] + 460, box["y"] + 60)  # while somebody types
        notebook.page.keyboard.type("3")
        pause(notebook)
        notebook.page.mouse.move(box["x"] + 470, box["y"] + 60)  # a nudge
        notebook.page.keyboard.type("4")
        assert notebook.page.evaluate(STATE)["cells"][EDITED] == ["code", "last = 1234"]
        assert visible_time(notebook) == shown
        # The wheel is turned on purpose.
        notebook.page.keyboard.down("Control")
        notebook.page.mouse.wheel(0, -100)
        notebook.page.keyboard.up("Control")
        notebook.wait_until(lambda: visible_time(notebook) != shown)
        notebook.page.keyboard.type("0dd")
        assert notebook.page.evaluate(STATE)["cells"][EDITED] == ["code", "last = 1234"]
        notebook.page.mouse.move(2, 400)
        for _ in "234":
            notebook.page.keyboard.press("Backspace")


def test_a_viewer_that_comes_under_a_resting_pointer_leaves_the_keys_to_the_notebook(notebook, canvas):
    with notebook.evidence("keys-resting"):
        box = canvas.bounding_box()
        hovered = "(canvas) => canvas.matches(':hover')"
        put = "(canvas, left) => Object.assign(canvas.closest('.tfp-trace').style, {position: 'relative', left})"
        enter(notebook, "command")
        canvas.evaluate(put, "3000px")
        notebook.wait_until(lambda: canvas.bounding_box()["x"] > 3000)
        notebook.page.mouse.move(box["x"] + 400, box["y"] + 60)
        notebook.page.keyboard.press("c")
        canvas.evaluate(put, "0")
        notebook.wait_until(lambda: canvas.evaluate(hovered))
        notebook.page.keyboard.press("c")
        assert executed(notebook) == ["notebook:copy-cell"] * 2


def test_keys_stay_in_what_has_the_focus(notebook):
    page = notebook.page
    with notebook.evidence("keys-focus"):
        enter(notebook, "command")
        before = page.evaluate(STATE)["cells"]
        areas = [page.locator(".tfp-view").first, page.locator(".jp-CodeCell .jp-OutputArea").last]
        seen = set().union(*(press_in_each(notebook, area) for area in areas))
        for tab in page_tabs(page.locator(".tfp-view").first).all()[1:]:
            open_tab(tab)
            panel = page.locator(f"#{tab.get_attribute('aria-controls')}")
            notebook.wait_until(lambda panel=panel: "Loading" not in panel.inner_text())
            notebook.wait_until_settled()
            seen |= press_in_each(notebook, panel)
        kinds = {
            "grid",
            "tab",
            "search",
            "range",
            "select-one",
            "SUMMARY",
            "button",
            "application",
            "scrollbar",
            "number",
        }
        assert kinds <= seen, kinds - seen
        assert page.evaluate(STATE)["cells"] == before
        assert page.locator(".jp-Dialog").count() == 0


def press_in_each(notebook, area):
    """Press dangerous keys in what can have the focus in an area. Return the kinds of elements.

    In one of a kind in each widget: all of them have the same listeners.
    """
    seen, pressed = set(), set()
    for element in area.locator(FOCUSABLE).locator("visible=true").element_handles():
        if not element.is_visible() or not element.is_enabled():
            continue
        kind, *place = element.evaluate(KIND)
        if (kind, *place) in pressed:
            continue
        pressed.add((kind, *place))
        element.focus()
        notebook.page.evaluate("() => { window.executed.length = 0; }")
        for key in ("d", "d", "0", "0", "ArrowDown", "ArrowUp", *NOTEBOOK_S):
            notebook.page.keyboard.press(key)
        assert notebook.page.evaluate("() => window.executed") == [], kind
        seen.add(kind)
    return seen
