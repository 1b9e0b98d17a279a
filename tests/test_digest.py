"""A profile in brief: what it holds, what it must not hold, and how long it may be."""

import gzip
import json

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.__main__ import main
from tfprof_nb.analysis import digest as module
from tfprof_nb.analysis.steps.breakdown import PARTS
from tfprof_nb.export import markdown
from tfprof_nb.export.markdown import to_markdown
from tfprof_nb.formats.files import sidecar_of
from tfprof_nb.views.categories import STEP_LABELS

MOST_BYTES = 5_000_000  # larger ones take long
MOST_TOKENS, CHARACTERS_PER_TOKEN = 4000, 3  # tokens of such texts have three to four
FILE, PERSON = "tests/programs/digest.py", "ada.lovelace"
KEYS = [
    "format",
    "version",
    "name",
    "tensorflow",
    "device",
    "hosts",
    "capture_ms",
    "verdict",
    "findings",
    "steps",
    "time",
    "top_ops",
    "lines",
    "notes",
]


pytestmark = pytest.mark.usefixtures("kept_results")


@pytest.fixture(scope="module")
def profile(captured, tmp_path_factory):
    """The profile of a program in somebody's home folder, which waits for its data."""
    (recorded,) = captured("digest/slow_input").files
    file = tmp_path_factory.mktemp("home") / recorded.name
    file.write_bytes(recorded.read_bytes())
    beside = gzip.decompress(sidecar_of(recorded).read_bytes()).decode()
    sidecar_of(file).write_bytes(gzip.compress(beside.replace(FILE, f"/home/{PERSON}/train.py").encode()))
    return tp.load(file, name="slow input")


def test_it_says_what_the_dashboard_says(profile):
    brief = profile.to_dict()
    assert list(brief) == KEYS
    assert (brief["format"], brief["version"], brief["name"]) == ("tfprof_nb digest", 1, "slow input")
    assert brief["verdict"]["answer"] in " ".join(str(profile).split())
    assert brief["verdict"]["input_bound"] == profile.overview.summary["verdict"] == "highly"
    table = profile.advice.table
    assert [finding["finding"] for finding in brief["findings"]] == table["finding"].tolist()
    assert brief["steps"]["measured"] == len(profile.steps.measured)
    assert brief["steps"]["median_ms"] == pytest.approx(profile.steps.measured["step_ms"].median(), rel=1e-3)
    assert sum(brief["steps"]["parts_ms"].values()) == pytest.approx(brief["steps"]["mean_ms"], rel=0.01)
    assert (brief["time"]["per"], brief["time"]["batch"]) == ("example", 8)
    assert brief["top_ops"][0]["op_name"] == profile.ops.table["op_name"][0]
    assert any("train.py" in line["file"] for line in brief["lines"])


def test_markdown_says_the_same(profile):
    text, brief = profile.to_markdown(), profile.to_dict()
    assert text.startswith(f"# slow input\n\n**{brief['verdict']['answer']}**\n")
    sections = [line for line in text.splitlines() if line.startswith("## ")]
    assert sections[:4] == ["## Findings", "## Steps", "## Top ops by self time", "## Lines that take most"]
    assert all(f"{number}. **" in text for number in range(1, len(brief["findings"]) + 1))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(line.endswith(" |") for line in rows)
    assert brief["top_ops"][0]["op_name"] in rows[2]


def test_a_single_step_is_told_by_its_own_time_and_not_by_that_of_the_capture(tmp_path):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    line.event("train", start_us=0, duration_us=2000, step_num=0, _r=1)
    line.event("stop", start_us=9000, duration_us=1000)
    (tmp_path / "vm.xplane.pb").write_bytes(space.to_bytes())
    text = tp.load(tmp_path / "vm.xplane.pb").to_markdown()
    assert "- One step was captured: 2.00 ms (step markers tell where steps begin)." in text
    assert "10.0 ms." not in text


def test_kinds_of_work_have_the_words_of_the_dashboard():
    for part in PARTS:
        assert markdown._PARTS.get(part, part.removesuffix("_ms").replace("_", " ")) == STEP_LABELS[part]


def test_the_place_of_a_finding_stands_once(profile):
    brief = profile.to_dict()
    brief["findings"][0] |= {"finding": "Slow (train.py line 3)", "place": "train.py line 3"}
    assert to_markdown(brief).count("train.py line 3)") == 1


def test_folders_of_the_person_are_not_in_it(profile):
    assert f"/home/{PERSON}/train.py" in profile.data.texts
    for text in (profile.to_markdown(), json.dumps(profile.to_dict())):
        assert PERSON not in text
        assert "train.py" in text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ('open("/home/ada/data/x.csv")', 'open("…/x.csv")'),
        ("in C:\\Users\\ada\\train.py line 3", "in …/train.py line 3"),
        ("~/secret/plan.txt", "…/plan.txt"),
        ("~/plan.txt", "…/plan.txt"),
        ("y = a / b / c", "y = a / b / c"),
        ("y = (a + b)/c/d", "y = (a + b)/c/d"),
        ("model/dense/MatMul", "model/dense/MatMul"),
        ("https://example.com/a/b", "https://example.com/a/b"),
    ],
)
def test_folders_are_left_out(text, short):
    assert module._plain(text) == short


def test_it_is_short_and_json(profile):
    for rows in (10, 3):
        brief = profile.to_dict(rows)
        text = json.dumps(brief, allow_nan=False, ensure_ascii=False)
        assert json.loads(text) == brief
        assert len(brief["top_ops"]) <= rows
        assert len(brief["lines"]) <= rows
    assert len(profile.to_markdown(3)) < len(profile.to_markdown())


def test_other_peoples_profiles_are_short_too(shared_data):
    files = [file for file in sorted(shared_data.rglob("*.xplane.pb")) if file.stat().st_size < MOST_BYTES]
    assert files
    for file in files[:8]:
        found = tp.load(file)
        for text in (found.to_markdown(), json.dumps(found.to_dict(), allow_nan=False)):
            assert len(text) < MOST_TOKENS * CHARACTERS_PER_TOKEN, file


def test_a_profile_without_anything(tmp_path):
    space = XSpace()
    space.plane("/host:CPU").line("python").event("nothing", start_us=0, duration_us=1)
    empty = tp.load(space.write(tmp_path / "host.xplane.pb"))
    brief = empty.to_dict()
    assert (brief["steps"]["measured"], brief["steps"]["median_ms"], brief["time"]["per"]) == (0, None, "capture")
    assert brief["top_ops"] == brief["lines"] == []
    assert "## Steps" not in empty.to_markdown()


def test_long_texts_end_and_long_code_is_left_out():
    assert len(module._plain("x" * 1000)) == 400
    assert module._plain(module._Code("x" * 700)) == "x" * 700


@pytest.mark.parametrize(
    ("options", "name", "start"),
    [
        (["--format", "md"], "report.md", "# slow input"),
        (["--format", "json"], "report.json", "{\n"),
        (["-o", "new/brief.md"], "new/brief.md", "# "),
        (["-o", "brief.json"], "brief.json", "{\n"),
        (["--format", "md", "-o", "brief.txt"], "brief.txt", "# "),
        ([], "report.html", "<!"),
    ],
)
def test_the_command_line_writes_each_form(profile, tmp_path, monkeypatch, options, name, start):
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(profile.files[0]), *options]) == 0
    text = (tmp_path / name).read_text()
    assert text.lower().startswith(start.split("slow", maxsplit=1)[0])
    if name.endswith("json"):
        assert list(json.loads(text)) == KEYS


def test_a_place_that_cannot_be_written(profile, tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    assert main(["report", str(profile.files[0]), "--format", "md", "-o", str(tmp_path / "folder")]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("tfprof_nb: ")
