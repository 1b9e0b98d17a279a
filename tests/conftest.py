"""What all tests share: a quiet TensorFlow, and the real captures where they are at hand."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

ROOT = Path(__file__).parents[1]
SHARED_DATA = Path(os.environ.get("TFPROF_NB_SHARED_DATA", ROOT.parent / "shared" / "data"))


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
