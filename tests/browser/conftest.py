"""A Jupyter server and a headless Chromium, both real, shared by the browser's tests."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from functools import cache

import pytest
from playwright.sync_api import expect, sync_playwright

from browser.fake_host import FakeHost
from browser.lab import Lab

TIMEOUT_S = float(os.environ.get("TFPROF_NB_BROWSER_TIMEOUT", "300"))
expect.set_options(timeout=TIMEOUT_S * 1000)

# All cells are in the page even when they are out of sight, and nothing asks or fetches.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": '{"windowingMode": "none"}',
    "@jupyterlab/apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
}


def chromium_path():
    """Where Chromium is; without it the tests are skipped, but never in CI."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None and "CI" not in os.environ:
        pytest.skip("Chromium is not installed (set CHROMIUM to its path)")
    assert path, "Chromium is not installed"
    return path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_served(url, server, log):
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/api").close()
        except urllib.error.URLError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the Jupyter server did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def notebooks_folder(tmp_path_factory):
    """The folder that the server serves."""
    return tmp_path_factory.mktemp("notebooks")


@contextmanager
def jupyter_server(home, notebooks_folder, packages=None):
    """Start a Jupyter server with settings of its own, on this machine only, and give its address.

    A folder ``packages`` holds another JupyterLab, and its extensions; all else comes from this environment.
    """
    for name, text in SETTINGS.items():
        path = home / "settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    environment = os.environ | {variable: str(home / folder) for variable, folder in folders.items()}
    url, log = f"http://127.0.0.1:{(port := free_port())}", home / "server.log"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--IdentityProvider.token="]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={notebooks_folder}"]
    command += [
        f"--LabApp.user_settings_dir={home / 'settings'}",
        "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True",
        "--LabApp.news_url=",
    ]
    if packages:
        share = packages / "share" / "jupyter"
        command.append(f"--LabApp.labextensions_path={share / 'labextensions'}")
        path = os.pathsep.join(filter(None, [str(packages), os.environ.get("PYTHONPATH")]))
        environment |= {"PYTHONPATH": path, "JUPYTERLAB_DIR": str(share / "lab")}
    with log.open("w") as output:
        server = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until_served(url, server, log)
        yield url
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="session")
def server_url(tmp_path_factory, notebooks_folder):
    """The address of a Jupyter server."""
    with jupyter_server(tmp_path_factory.mktemp("jupyter"), notebooks_folder) as url:
        yield url


_running = ExitStack()


@cache
def _launched(path):
    driver = _running.enter_context(sync_playwright())
    browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
    _running.callback(browser.close)
    return browser


@pytest.fixture(scope="module")
def chromium():
    """A headless Chromium, for all files of this folder that follow one another."""
    return _launched(chromium_path())


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """End Chromium before another folder's tests: while it is driven, an event loop runs that they would trip over."""
    if nextitem is None or nextitem.path.parent != item.path.parent:
        _running.close()
        _launched.cache_clear()


@pytest.fixture(scope="session")
def artifacts(root):
    """The folder for pictures of what the tests saw."""
    folder = root / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def open_lab(chromium, server_url, notebooks_folder, artifacts):
    """``open_lab(path)`` opens a notebook in a new page, a copy if it is not in the server's folder: a ``Lab``.

    Without a path, it opens JupyterLab alone.
    """
    contexts = []

    def open_notebook(path=None):
        contexts.append(chromium.new_context(viewport={"width": 1280, "height": 900}))
        lab = Lab(contexts[-1].new_page(), server_url, artifacts, TIMEOUT_S)
        if path is None:
            lab.open_empty()
            return lab
        if path.parent != notebooks_folder:
            shutil.copy(path, notebooks_folder)
        with lab.evidence(path.stem):
            lab.open(path.name)
        return lab

    yield open_notebook
    for context in contexts:
        context.close()


@pytest.fixture
def host(chromium):
    """``host("trace")`` opens a page for widgets of that kind; none may log, throw, or fetch from elsewhere."""
    pages = []

    def open_page(name):
        page = chromium.new_page(viewport={"width": 1018, "height": 800}, color_scheme="light")
        page.set_default_timeout(TIMEOUT_S * 1000)
        pages.append(FakeHost(page, name))
        return pages[-1]

    yield open_page
    for fake in pages:
        assert fake.complaints == []
        assert set(fake.requests) <= {"", *fake.files, "favicon.ico"}
        fake.page.close()
