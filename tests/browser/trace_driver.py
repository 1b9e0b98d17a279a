"""What drives the trace viewer in a page: where things are, what is asked of Python, how the pointer is dragged."""

import base64

from browser.lab import FRAMES

LABELS_PX = 200  # a fifth of the canvas, which is 1000 wide
GUTTER_PX = 8
PIXEL = "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data]"
# What the widget asks goes to its Python side, and the answer back, as over a comm.
CONNECT = """() => {
    const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
    model.send = async (question) => {
        model.sent.push(question);
        for (const [content, buffers] of await ask(question)) model.emit('msg:custom', content, buffers.map(bytes));
    };
}"""


def connect(fake, widget):
    """Let the page ask the widget's Python side."""

    def ask(question):
        answers = []
        widget.send = lambda content, buffers=(): answers.append((content, buffers))
        widget._answer(widget, question, [])
        return [[content, [base64.b64encode(data).decode() for data in buffers]] for content, buffers in answers]

    fake.page.expose_function("ask", ask)
    fake.page.evaluate(CONNECT)


def canvas_of(fake):
    """Return the viewer's canvas once it is drawn in its own size."""
    fake.page.wait_for_function("() => document.querySelector('.tfp-canvas')?.width > 900")
    return fake.page.locator(".tfp-canvas")


def wait_until_drawn(page):
    """Wait until all changes so far are on the canvas: the viewer draws in the next animation frame."""
    page.evaluate(FRAMES)


def wait_for_range(fake, start_ps, end_ps, off_by_ps):
    """Wait until the kernel knows this range; the viewer sends it 0.15 s after the last move."""
    near = "([time, offBy]) => model.get('time_range')?.every((told, k) => Math.abs(told - time[k]) <= offBy)"
    fake.page.wait_for_function(near, arg=[[start_ps, end_ps], off_by_ps])


def position(time_us, lane):
    """Canvas position of a time (of 1000 us in view) on the lanes fit, MatMul, Relu."""
    plot = 1000 - LABELS_PX - GUTTER_PX
    return {"x": LABELS_PX + plot * time_us / 1000, "y": 20 + 22 + 8 + [0, 17, 39][lane]}


def selected_name(fake):
    return fake.page.locator(".tfp-details .tfp-name").inner_text()


def drag(fake, canvas, start, end):
    box = canvas.bounding_box()
    mouse = fake.page.mouse
    mouse.move(box["x"] + start["x"], box["y"] + start["y"])
    mouse.down()
    mouse.move(box["x"] + (start["x"] + end["x"]) / 2, box["y"] + (start["y"] + end["y"]) / 2)
    mouse.move(box["x"] + end["x"], box["y"] + end["y"])
    mouse.up()


def shown_range(fake):
    return fake.page.locator(".tfp-toolbar .tfp-push").inner_text()


def range_rows(fake):
    return [row.split("\t") for row in fake.page.locator(".tfp-range tbody tr").all_inner_texts()]
