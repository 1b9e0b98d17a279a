"""The workflows on GitHub call what is there: targets, scripts, files; forms ask for what a maintainer needs."""

import json
import re
import shlex
import subprocess
import sys

import pytest
import yaml

import tfprof_nb

TARGET = re.compile(r"^([a-z-]+):(?!=)", re.MULTILINE)


@pytest.fixture(scope="module")
def workflows(root):
    found = {path.name: yaml.safe_load(path.read_text()) for path in (root / ".github" / "workflows").glob("*.yml")}
    assert set(found) == {"test.yml", "site.yml", "nightly.yml", "release.yml"}
    return found


@pytest.fixture(scope="module")
def commands(workflows):
    """Each command line that a workflow runs, split, with the folder in which it runs."""
    steps = [step for flow in workflows.values() for job in flow["jobs"].values() for step in job["steps"]]
    return [
        (shlex.split(line), step.get("working-directory", "."))
        for step in steps
        for line in step.get("run", "").splitlines()
    ]


def test_programs_are_those_of_the_runner_or_of_the_repository(commands):
    assert {words[0] for words, _ in commands} == {"make", "npm", "python", "gh"}


def test_every_target_of_make_exists(root, commands):
    targets = set(TARGET.findall((root / "Makefile").read_text()))
    hooks = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    called = [words for words, _ in commands] + [shlex.split(hook["entry"]) for hook in hooks]
    wanted = {word for words in called if words[0] == "make" for word in words[1:] if "=" not in word}
    assert wanted >= {"lint", "vitest", "test", "check", "nightly", "site", "wheel", "notes"}
    assert wanted <= targets


def test_every_script_of_npm_and_every_file_exists(root, commands):
    for words, folder in commands:
        if words[:2] == ["npm", "run"]:
            assert words[2] in json.loads((root / folder / "package.json").read_text())["scripts"]
        if "-r" in words:
            assert (root / folder / words[words.index("-r") + 1]).is_file()


def test_pythons_are_those_that_the_package_names(root, workflows):
    tested = workflows["test.yml"]["jobs"]["linux"]["strategy"]["matrix"]["python"]
    named = re.findall(r"Python :: (3\.\d+)", (root / "pyproject.toml").read_text())
    assert tested == named


def test_only_what_needs_them_has_rights(workflows):
    """By default a job reads; to publish, to deploy and to announce need one right each, two for the site."""
    assert all(flow["permissions"] == {"contents": "read"} for flow in workflows.values())
    jobs = [(name, job) for flow in workflows.values() for name, job in flow["jobs"].items()]
    given = {name: job["permissions"] for name, job in jobs if "permissions" in job}
    assert given == {
        "deploy": {"pages": "write", "id-token": "write"},
        "publish": {"id-token": "write"},
        "announce": {"contents": "write"},
    }


def test_only_systems_that_nobody_tried_may_fail(workflows):
    jobs = [(name, job) for flow in workflows.values() for name, job in flow["jobs"].items()]
    assert {name for name, job in jobs if job.get("continue-on-error")} == {"macos", "windows"}


def test_forms_are_complete_and_ask_for_check_and_digest(root):
    forms = [yaml.safe_load(path.read_text()) for path in (root / ".github" / "ISSUE_TEMPLATE").glob("*.yml")]
    forms = [form for form in forms if "body" in form]
    assert len(forms) == 2
    for form in forms:
        assert form["name"]
        assert form["description"]
        fields = {field["id"]: field for field in form["body"]}
        assert len(fields) == len(form["body"])
        text = json.dumps(form)
        assert "check()" in text
        assert "to_markdown()" in text


@pytest.mark.parametrize(("tag", "status"), [(f"v{tfprof_nb.__version__}", 0), ("v9.9.9", 2)])
def test_the_notes_of_a_release(root, tag, status):
    done = subprocess.run(["make", "notes", f"TAG={tag}"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    if not status:
        notes = (root / "build" / "notes.md").read_text()
        assert "### What you get" in notes
        assert "\n## " not in notes
        assert len(notes.splitlines()) < 40


def test_files_about_changes_become_a_part_of_the_changelog(root):
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9.9"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written = {path.read_text(encoding="utf-8").strip() for path in (root / "changes").glob("*.md")}
    part = done.stdout.partition("## [9.9.9] - ")[2].replace("\n  ", "\n")
    assert {text for text in written if f"- {text}\n" not in part} == set()


@pytest.mark.nightly
def test_a_clean_clone_builds_the_release_and_the_site_as_the_workflows_do(root):
    command = [sys.executable, str(root / ".ci" / "workflows.py"), "release", "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    left_out = {line.split(": ")[0] for line in done.stdout.splitlines() if line.endswith(": left out")}
    assert left_out == {"release/publish", "release/announce", "site/deploy"}
