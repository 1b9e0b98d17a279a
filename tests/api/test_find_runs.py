"""Runs of a logdir: a list for code, a menu for readers."""

import pytest

import tfprof_nb as tp
from builders import XSpace
from shown import pages, shown
from tfprof_nb.render.static_form import static_view


@pytest.fixture
def logdir(tmp_path):
    for hour, length in ((10, 100), (11, 300)):
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        for i in range(3):
            python.event("train", start_us=1000 * i, duration_us=length, step_num=i, _r=1)
        folder = tmp_path / f"plugins/profile/2026_01_02_{hour}_00_00"
        folder.mkdir(parents=True)
        space.write(folder / "host.xplane.pb")
    return tmp_path


def test_the_list_has_the_newest_last(logdir):
    found = tp.find_runs(logdir)
    assert [run.name for run in found] == ["2026_01_02_10_00_00", "2026_01_02_11_00_00"]
    assert str(found).splitlines()[1].startswith("2026_01_02_11_00_00 (host, ")


def test_the_menu_shows_the_newest_first_and_reads_only_what_is_chosen(logdir):
    view = tp.find_runs(logdir).view()
    (menu,) = view._panels
    assert (menu.kind, [tab.name[:19] for tab in menu.tabs]) == ("menu", ["2026_01_02_11_00_00", "2026_01_02_10_00_00"])
    (logdir / "plugins/profile/2026_01_02_10_00_00/host.xplane.pb").write_bytes(b"")
    assert "2026_01_02_11_00_00 · 3 steps" in static_view("", [menu])
    assert "Trace" in list(pages([menu]))
    assert "empty" in next(iter(shown(menu.tabs[1].open()))).text


def test_a_folder_without_runs_is_an_empty_list(tmp_path, capsys):
    found = tp.find_runs(tmp_path)
    found._ipython_display_()
    assert (found, str(found), capsys.readouterr().out) == ([], "No runs.", "No runs.\n")


def test_a_logdir_opens_its_newest_run_and_says_so(logdir):
    p = tp.load(logdir)
    assert p.name == "2026_01_02_11_00_00"
    assert str(p).startswith("2026_01_02_11_00_00 · the newest of 2 runs · 3 steps")
    assert tp.load(p.files[0]).origin == ""
