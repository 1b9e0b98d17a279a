"""Inputs that once broke a reader, collected outside the repository: each gives every result and every output."""

import pytest

from tfprof_nb import load
from tfprof_nb.formats.files import SIDECAR
from tfprof_nb.views.pages import PAGES


@pytest.fixture(scope="module")
def broken(shared_data):
    """A folder with a folder per input."""
    folder = shared_data.parent / "broken"
    if not folder.is_dir():
        pytest.skip("the broken inputs are not here")
    return sorted(file for file in folder.glob("*/*") if not file.name.endswith(SIDECAR))


@pytest.mark.parametrize("place", range(14))
def test_a_broken_input_is_read_as_far_as_it_is_right(tmp_path, broken, place):
    assert len(broken) == 14, "give each new input a number above"
    p = load(broken[place])
    for name in PAGES:
        assert str(getattr(p, name))
    assert str(p)
    assert (p.source.table["self_ms"].fillna(0) >= 0).all()
    p.to_html(tmp_path / "p.html")
    p.to_chrome_trace(tmp_path / "p.json")
    if broken[place].with_name("vm" + SIDECAR).exists():
        assert any("is damaged" in note for note in p.overview.notes)
