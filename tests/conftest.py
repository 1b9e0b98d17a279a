"""What all tests share: their marks, a quiet TensorFlow, and real captures where they are at hand."""

import ast
import gc
import os
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from capture.ports import free_ports
from capture.programs import Program
from captures.fixtures import advised, captured, kept_results, place_of, seconds

__all__ = ["advised", "captured", "kept_results", "place_of", "seconds"]

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
# TensorFlow records allocations on CPUs only with oneDNN, which it leaves off on processors without AVX-512.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
os.environ["TFPROF_NB_CACHE"] = "off"  # results of earlier code would hide what a change breaks

# How long an example takes, a busy machine decides.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

ROOT = Path(__file__).parents[1]
SHARED_DATA = Path(os.environ.get("TFPROF_NB_SHARED_DATA", ROOT.parent / "shared" / "data"))

NEEDS = ("tensorflow", "kernel", "browser")
# Who uses one of these fixtures needs what the fixture needs; other tests and files carry the marks themselves.
NEEDS_OF_FIXTURES = {
    "chromium": "browser",
    "server_url": "kernel",
    "program": "tensorflow",
    "keras_capture": "tensorflow",
    "session_run": "tensorflow",
    "xprof_marked_loop": "tensorflow",
}
HEAD = re.compile(rb"(?s:.*?)(?=^(?:def|class|@|\w+ = )|\Z)", re.MULTILINE)  # of a file: its imports
IMPORTS_TENSORFLOW = re.compile(rb"^(?:import|from) (?:tensorflow|keras)\b", re.MULTILINE)
LONG = ("timeout", "browser", "kernel")  # the marks of files that take long, the longest first


def pytest_addoption(parser):
    parser.addoption("--check", action="store_true", help="only tests without TensorFlow, kernel and browser")


def pytest_configure(config):
    """With ``--check``, leave out what needs more than Python, and put an error where it would be imported."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore what tests send
    stand_in("unneeded")
    if config.getoption("check"):
        config.option.markexpr = f"not ({' or '.join((*NEEDS, 'nightly'))})"
        stand_in("unmarked")


def stand_in(folder):
    """Put modules of ours before those that are installed, also in the processes that tests start."""
    path = str(Path(__file__).with_name(folder))
    sys.path.insert(0, path)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")]))


def pytest_ignore_collect(collection_path, config):
    """Don't even read files of which all tests need more than Python: what they import takes long."""
    if config.getoption("check") and (
        collection_path.name == "browser" or imports_tensorflow(collection_path) or is_marked(collection_path)
    ):
        return True
    return None


@cache
def statements(path):
    """The statements at the head of a Python file; none of others."""
    return ast.parse(path.read_bytes()).body if path.suffix == ".py" else []


def is_marked(path):
    """Whether a test file as a whole has one of the marks of `NEEDS`, or is nightly."""
    marks = [
        one.value
        for one in statements(path)
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "pytestmark"
    ]
    named = {node.attr for mark in marks for node in ast.walk(mark) if isinstance(node, ast.Attribute)}
    return bool(named & {*NEEDS, "nightly"})


@cache
def imports_tensorflow(path):
    """Whether a test file imports TensorFlow or Keras at its head."""
    return path.suffix == ".py" and IMPORTS_TENSORFLOW.search(HEAD.match(path.read_bytes())[0]) is not None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests by what they import and use, and begin with the files that take longest."""
    for item in items:
        needs = {NEEDS_OF_FIXTURES[name] for name in item.fixturenames if name in NEEDS_OF_FIXTURES}
        for need in needs | ({"tensorflow"} if imports_tensorflow(item.path) else set()):
            item.add_marker(need)
    # At the end no worker waits for another's last file.
    long = {mark: {item.path for item in items if item.get_closest_marker(mark)} for mark in LONG}
    items.sort(key=lambda item: [item.path not in long[mark] for mark in LONG])


def pytest_collection_finish():
    """Let Python's garbage collector never look at what was imported: it stays."""
    gc.freeze()


@pytest.fixture(scope="session")
def root():
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data():
    """Real captures made by other people, too large for the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real captures are not here (set TFPROF_NB_SHARED_DATA to their folder)")
    return SHARED_DATA


@pytest.fixture(scope="session", autouse=True)
def whole_recordings():
    """Record the ops of all steps: of how many they are recorded depends on how long steps take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tfprof_nb.capture.detail.can_change_level", lambda: False)
        yield


@pytest.fixture(scope="session", autouse=True)
def rules_raise():
    """Let a rule that fails fail the test; users get a note, and what the other rules find."""

    def fail(_rule, error):
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tfprof_nb.analysis.advice.catalogue._failure", fail)
        yield


@pytest.fixture(autouse=True)
def no_capture_left():
    """Name the test that leaves a capture running, not one that starts after it."""
    yield
    session = sys.modules.get("tfprof_nb.api.session")
    left = session.running() if session else None
    if left:
        left.end()
        session._session.running = None
    assert left is None, "this test left a capture running"


@pytest.fixture
def no_collection():
    """Keep Python from collecting garbage: Hypothesis listens to that, and an interrupt in the middle of it is lost."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A model's fit in a process of its own, with our server and TensorFlow's."""
    started = Program.start("keras", free_ports(2), tmp_path_factory.mktemp("program") / "log")
    try:
        started.wait_until_it_trains()
        yield started
    finally:
        started.end()


@pytest.fixture(scope="session")
def dist(root, tmp_path_factory):
    """A folder with an sdist of the checkout and the wheel built from that sdist, by a PATH without Node."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(root)]
    done = subprocess.run(build, env=os.environ | {"PATH": ""}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def wheel(dist):
    """The wheel."""
    (path,) = dist.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def site(root, tmp_path_factory):
    """The site, built strictly."""
    folder = tmp_path_factory.mktemp("site")
    build = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-c",
        str(root / "docs"),
        str(root),
        str(folder),
    ]
    done = subprocess.run(build, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder
