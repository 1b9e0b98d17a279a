"""What a reader waits for in a real JupyterLab, after the cell's own work has ended: for the answer, for a free kernel.

    python -m benchmarks.seat [--cases cnn images lstm]

The time in which TensorFlow stops and saves is apart, because nothing can be read before. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_SETUP = """%load_ext tfprof_nb
import time, numpy as np, tensorflow as tf, keras
from keras import layers
def images(count, size):
    return np.random.rand(count, size, size, 3).astype("float32"), np.zeros(count)
"""
_CNN = "keras.Sequential([layers.Conv2D(8, 3), layers.GlobalAveragePooling2D(), layers.Dense(1)])"
_LSTM = "keras.Sequential([layers.LSTM(32), layers.Dense(1)])"
CASES = {
    "cnn": (f"model, (x, y) = {_CNN}, images(640, 32)", 1),
    "images": (f"model, (x, y) = {_CNN}, images(6400, 32)", 8),
    "lstm": (f"model = {_LSTM}\nx, y = np.random.rand(13_600, 64, 16).astype('float32'), np.zeros(13_600)", 1),
}
_FIT = "model.compile('sgd', 'mse')\n_ = model.fit(x[:64], y[:64], verbose=0)"
_CELL = "%%tfprofile {name}\n_ = model.fit(x, y, epochs={epochs}, verbose=0)\nprint('worked until', time.time())"
_WATCH = """() => {
    const seen = window.seen = {};
    const states = {
        saving: () => /TensorFlow saves/.test(document.querySelector('.tfp-live')?.innerText),
        reading: () => /Reading the profile/.test(document.querySelector('.tfp-live')?.innerText),
        answer: () => document.querySelector('[id^=tfp-static], .tfp-view .tfp-head'),
        free: () => seen.answer && window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.status
            === 'idle',
    };
    setInterval(() => {
        for (const [name, is] of Object.entries(states)) if (!(name in seen) && is()) seen[name] = Date.now() / 1000;
    }, 20);
    window.jupyterapp.commands.execute('notebook:run-all-cells');
}"""


def main() -> None:
    """Run the cases that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    cases = parser.parse_args().cases
    print("goal after TensorFlow has saved 120 MB: the answer within 1 s, a free kernel within 2 s")
    for name in cases:
        print(_told(name, _run(name)), flush=True)


def _run(name: str) -> dict[str, float]:
    """Run a case in a notebook; return when what was seen, in seconds, and the profile's megabytes."""
    sys.path.insert(0, str(ROOT / "tests"))
    from playwright.sync_api import sync_playwright

    from browser.conftest import chromium_path, jupyter_server
    from browser.lab import Lab

    with tempfile.TemporaryDirectory() as folder:
        served = Path(folder, "notebooks")
        served.mkdir()
        (served / "case.ipynb").write_text(json.dumps(_notebook(name)), encoding="utf-8")
        with jupyter_server(Path(folder, "home"), served) as url, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
            lab = Lab(browser.new_page(viewport={"width": 1280, "height": 900}), url, Path(folder), 600)
            lab.open("case.ipynb")
            lab.page.evaluate(_WATCH)
            lab.page.wait_for_function("() => window.seen.free")
            seen: dict[str, float] = lab.page.evaluate("() => window.seen")
            printed = "".join(output.get("text", "") for output in lab.outputs())
            size = sum(file.stat().st_size for file in served.rglob("*.xplane.pb"))
            browser.close()
    return seen | {"worked": float(printed.split("worked until")[1].split()[0]), "megabytes": size / 1e6}


def _notebook(name: str) -> dict[str, Any]:
    made, epochs = CASES[name]
    sources = [f"{_SETUP}{made}\n{_FIT}", _CELL.format(name=name, epochs=epochs)]
    cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return {
        "cells": [cell | {"source": source, "id": f"cell{k}"} for k, source in enumerate(sources)],
        "metadata": metadata,
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _told(name: str, seen: dict[str, float]) -> str:
    saved = seen.get("reading", seen["worked"])
    return (
        f"{name:<8}{seen['megabytes']:6.1f} MB   TensorFlow saves {saved - seen['worked']:5.1f} s   "
        f"then the answer {seen['answer'] - saved:5.1f} s, a free kernel {seen['free'] - saved:5.1f} s"
    )


if __name__ == "__main__":
    main()
