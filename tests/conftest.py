"""What all tests share: a quiet TensorFlow, the package as users get it, and real captures where they are at hand."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from capture.ports import free_ports
from capture.programs import Program

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
# TensorFlow records allocations on CPUs only with oneDNN, which it leaves off on processors without AVX-512.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
os.environ["TFPROF_NB_CACHE"] = "off"  # results of earlier code would hide what a change breaks

ROOT = Path(__file__).parents[1]
SLOW = ("timeout", "browser")  # marks of files, the slowest first
SHARED_DATA = Path(os.environ.get("TFPROF_NB_SHARED_DATA", ROOT.parent / "shared" / "data"))


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest: at the end no worker waits for another's last file."""
    items.sort(key=lambda item: [item.getparent(pytest.Module).get_closest_marker(name) is None for name in SLOW])


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
