"""The trace viewer in a real Chromium, without a notebook: time to the first picture, and times of frames on a tour."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from tfprof_nb.render.browser_widgets import TraceWidget
from tfprof_nb.render.bundle import bundle

_ADDRESS = "http://trace.test/"
_WIDTH = 1200 + 16  # a canvas of 1200 pixels, and the page's margins
_HEIGHT = 600
_SHOW = """async ({chunks, height}) => {
    const header = await (await fetch('/header')).json();
    const payload = [];
    for (let k = 0; k < chunks; k++) payload.push(new DataView(await (await fetch('/payload' + k)).arrayBuffer()));
    const none = {time_range: null, selected_event: null, selected_name: null};
    const traits = {header, payload, height, ...none};
    const listeners = {};
    const of = (event) => listeners[event] ??= new Set();
    const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
    const model = {
        get: (name) => traits[name],
        set: (name, value) => { traits[name] = value; of('change:' + name).forEach((f) => f()); },
        save_changes: () => {},
        send: async (question) => {
            const [content, buffers] = await ask(question);
            of('msg:custom').forEach((f) => f(content, buffers.map(bytes)));
        },
        on: (event, f) => of(event).add(f),
        off: (event, f) => of(event).delete(f),
    };
    const widget = (await import('/trace.js')).default;
    // Each frame counts with all that its drawing takes: reading a pixel waits for it.
    const frames = window.frames_ = [];
    const plain = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (callback) => plain((time) => {
        const begin = performance.now();
        callback(time);
        const canvas = document.querySelector('.tfp-canvas');
        if (!canvas?.width) return;
        canvas.getContext('2d').getImageData(0, 0, 1, 1);
        frames.push(performance.now() - begin);
    });
    const begin = performance.now();
    widget.render({model, el: document.getElementById('widget')});
    while (!frames.length) await new Promise((next) => setTimeout(next, 1));
    return performance.now() - begin;
}"""
_TOUR = """async () => {
    const canvas = document.querySelector('.tfp-canvas');
    const search = document.querySelector('input[type=search]');
    const box = canvas.getBoundingClientRect();
    const frame = () => new Promise((next) => setTimeout(() => requestAnimationFrame(() => setTimeout(next, 0)), 0));
    const wheel = (more) => canvas.dispatchEvent(new WheelEvent('wheel', {
        bubbles: true, cancelable: true, clientX: box.left + 500, clientY: box.top + 200, ...more}));
    const repeat = async (times, act) => { for (let k = 0; k < times; k++) { act(k); await frame(); } };
    const type = (text) => { search.value = text; search.dispatchEvent(new Event('input')); };
    frames_.length = 0;
    await repeat(40, () => wheel({ctrlKey: true, deltaY: -50}));
    await repeat(30, (k) => wheel({shiftKey: true, deltaY: k < 15 ? 80 : -80}));
    type('matmul');
    await repeat(20, (k) => wheel({deltaY: k < 10 ? 30 : -30}));
    await repeat(40, () => wheel({ctrlKey: true, deltaY: 50}));
    type('');
    await repeat(20, (k) => wheel({shiftKey: true, deltaY: k < 10 ? 80 : -80}));
    return frames_;
}"""


class Tour(NamedTuple):
    """What a reader waits for: milliseconds to the first picture, and of each frame of a tour."""

    first_paint_ms: float
    frames_ms: list[float]


def tour(widget: TraceWidget) -> Tour:
    """Show a trace in Chromium, zoom, pan, scroll and search in it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": _WIDTH, "height": 900})
        page.route("**/*", lambda route: route.fulfill(**_response(route.request.url.removeprefix(_ADDRESS), widget)))
        page.expose_function("ask", lambda question: _answer(widget, question))
        page.goto(_ADDRESS)
        first = page.evaluate(_SHOW, {"chunks": len(widget.payload), "height": _HEIGHT})
        frames = page.evaluate(_TOUR)
        browser.close()
    return Tour(first, frames)


def _response(name: str, widget: TraceWidget) -> dict[str, Any]:
    module, style = bundle("trace")
    if name == "trace.js":
        return {"body": module.read_bytes(), "content_type": "text/javascript"}
    if name == "header":
        return {"body": json.dumps(widget.header), "content_type": "application/json"}
    if name.startswith("payload"):
        return {"body": bytes(widget.payload[int(name.removeprefix("payload"))])}
    page = f"<!doctype html><style>{Path(style).read_text(encoding='utf-8')}</style><div id=widget></div>"
    return {"body": page, "content_type": "text/html"}


def _answer(widget: TraceWidget, question: dict[str, Any]) -> list[Any]:
    sent: list[Any] = []
    widget.send = lambda content, buffers=(): sent.extend([content, buffers])
    widget._answer(widget, question, [])  # noqa: SLF001 (what a message from the browser calls)
    content, buffers = sent
    return [content, [base64.b64encode(data).decode() for data in buffers]]
