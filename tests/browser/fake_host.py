"""A page that shows one widget as a notebook would, without a notebook: only what anywidget's contract promises."""

import base64

from tfprof_nb.render.bundle import bundle

ADDRESS = "http://widgets.test/"

# A model as the contract has it. Bytes arrive as views that are not aligned, as in a real message.
SETUP = """async ({module, traits}) => {
    const unpack = (value) => {
        if (Array.isArray(value)) return value.map(unpack);
        if (value === null || !value.base64) return value;
        const bytes = Uint8Array.from('x' + atob(value.base64), (c) => c.charCodeAt(0));
        return new DataView(bytes.buffer, 1);
    };
    for (const name of Object.keys(traits)) if (name !== 'header') traits[name] = unpack(traits[name]);
    const listeners = {};
    const of = (event) => listeners[event] ??= new Set();
    window.model = {
        get: (name) => traits[name],
        set: (name, value) => { traits[name] = value; of('change:' + name).forEach((f) => f()); },
        save_changes: () => {},
        send: (content) => model.sent.push(content),
        on: (event, f) => of(event).add(f),
        off: (event, f) => of(event).delete(f),
        emit: (event, ...content) => of(event).forEach((f) => f(...content)),
        listening: () => Object.values(listeners).reduce((sum, all) => sum + all.size, 0),
        sent: [],
    };
    const widget = (await import(module)).default;
    window.close_widget = widget.render({model, el: document.getElementById('widget')});
}"""


def packed(value):
    """Make a trait's value ready for the page."""
    if isinstance(value, (bytes, memoryview)):
        return {"base64": base64.b64encode(value).decode()}
    return [packed(item) for item in value] if isinstance(value, list) else value


class FakeHost:
    """One browser page with one widget.

    ``complaints`` collects all that its scripts wrote or threw, ``requests`` all that they fetched.
    """

    def __init__(self, page, name):
        self.page, self.complaints, self.requests = page, [], []
        self.files = dict(zip((f"{name}.js", f"{name}.css"), bundle(name), strict=True))
        self.name = name
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.route("**/*", self._serve)

    def _on_console(self, message):
        # That is about the tests' own reading of pixels.
        if "willReadFrequently" not in message.text:
            self.complaints.append(message.text)

    def _serve(self, route):
        name = route.request.url.removeprefix(ADDRESS)
        self.requests.append(name)
        if name in self.files:
            kind = "text/javascript" if name.endswith(".js") else "text/css"
            route.fulfill(body=self.files[name].read_bytes(), content_type=kind)
        else:
            link = f"<link rel=stylesheet href={self.name}.css>"
            route.fulfill(body=f"<!doctype html>{link}<div id=widget></div>", content_type="text/html")

    def show(self, widget):
        """Open the page and draw a widget made in Python, from the state that it would send."""
        self.page.goto(ADDRESS)
        traits = {key: packed(value) for key, value in widget.get_state().items() if not key.startswith("_")}
        traits = {key: value for key, value in traits.items() if key not in ("layout", "tabbable", "tooltip")}
        self.page.evaluate(SETUP, {"module": f"/{self.name}.js", "traits": traits})

    def get(self, trait):
        """Return a trait's value in the browser."""
        return self.page.evaluate("(name) => model.get(name)", trait)

    def set(self, trait, value):
        """Set a trait as the kernel would."""
        self.page.evaluate("([name, value]) => model.set(name, value)", [trait, value])

    def wait_for(self, trait, value):
        """Wait until a trait has a value."""
        condition = "([name, value]) => JSON.stringify(model.get(name)) === JSON.stringify(value)"
        self.page.wait_for_function(condition, arg=[trait, value])

    def close(self):
        """Take the widget away; returns how many listeners it left on the model."""
        return self.page.evaluate("() => { close_widget(); return model.listening(); }")
