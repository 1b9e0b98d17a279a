"""Rules of advice can be ignored: for a capture, and for a project."""

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.profiles import Profile

TABLE = "[tool.tfprof_nb]\nignore = {}\n"


@pytest.fixture
def in_project(tmp_path, monkeypatch):
    """Work below a folder whose pyproject.toml has a text."""

    def work(text):
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
        (tmp_path / "notebooks").mkdir()
        monkeypatch.chdir(tmp_path / "notebooks")

    return work


@pytest.fixture
def file(tmp_path):
    """A profile whose steps are mostly outside of ops."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(5):
        python.event("train", start_us=1000 * i, duration_us=999, step_num=i, _r=1)
    return space.write(tmp_path / "host.xplane.pb")


def test_findings_of_rules_that_a_project_ignores_are_left_out(file, in_project):
    assert "unrecorded-step-time" in list(tp.load(file).advice.table["rule"])
    in_project(TABLE.format('["unrecorded-step-time"]'))
    advice = tp.load(file).advice
    assert "unrecorded-step-time" not in list(advice.table["rule"])
    assert advice.notes == ["Findings of rules that are ignored are left out: unrecorded-step-time."]


def test_other_tools_and_projects_without_a_table_are_no_matter(file, in_project):
    in_project("[tool.ruff]\nignore = ['E501']\n")
    assert "unrecorded-step-time" in list(tp.load(file).advice.table["rule"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE.format('["unrecorded-step"]'), r"pyproject\.toml: there is no rule 'unrecorded-step'\. Did you"),
        (TABLE.format('"tf-print"'), "`ignore` of .* is a list of rules"),
        ("[tool.tfprof_nb]\nignored = []\n", "has no setting 'ignored'. It knows `ignore`"),
    ],
)
def test_what_a_project_says_wrongly_is_an_error(file, in_project, text, message):
    in_project(text)
    with pytest.raises(ValueError, match=message):
        tp.load(file)


def test_a_capture_can_ignore_rules():
    assert isinstance(tp.profile(ignore=["tf-print"]).new_capture().profile, Profile)
    with pytest.raises(ValueError, match=r"There is no rule 'tf-prints'\. Did you mean tf-print"):
        tp.profile(ignore=["tf-prints"])


def test_what_is_ignored_as_a_whole_is_ignored_in_its_parts(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(5):
        python.event("train", start_us=1000 * i, duration_us=999, step_num=i, _r=1)
        python.event("IteratorGetNext", start_us=1000 * i + 10, duration_us=900)
    profile = tp.load(space.write(tmp_path / "host.xplane.pb"))
    assert profile.advice.table["rule"].str.contains("input").any()
    again = Profile(profile._run, ignore=["input-bound"], cache=False)
    assert not again.advice.table["rule"].str.contains("input").any()
