"""Run what the workflows on GitHub run, in the order of their files: each job in a clean clone of its own.

    python .ci/workflows.py [WORKFLOW | WORKFLOW/JOB] ...

Without names: all but ``nightly``, which takes hours. Checking out, Python and artifacts are done here by hand. What
publishes, deploys or announces is left out, and so is a job of a matrix whose Python is not here; each is said. Jobs
of other systems run on this one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
Step = Mapping[str, Any]


def jobs(wanted: set[str]) -> Iterator[tuple[str, Mapping[str, Any], str | None]]:
    """Yield title, definition and Python of each job, once for each Python of its matrix."""
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            if wanted & {path.stem, f"{path.stem}/{name}"} or not (wanted or path.stem == "nightly"):
                for python in job.get("strategy", {}).get("matrix", {}).get("python", [None]):
                    yield "/".join(filter(None, [path.stem, name, python])), job, python


def run_job(title: str, job: Mapping[str, Any], python: str | None, folder: Path, artifacts: Path) -> None:
    """Run the steps of a job in an empty folder."""
    if (
        python
        and subprocess.run(["bash", "-c", f"python{python} --version"], capture_output=True, check=False).returncode
    ):
        print(f"{title}: left out, there is no Python {python} here", flush=True)
        return
    env = variables(job, folder)
    if any("setup-python" in step.get("uses", "") for step in job["steps"]):
        subprocess.run([f"python{python or 3}", "-m", "venv", folder / "python"], check=True)
    for step in job["steps"]:
        text = step.get("run") or f"{step['uses']} {step.get('with', {}).get('name', '')}"
        start = time.monotonic()
        ran = command(step, folder / "clone", env) if "run" in step else action(step, folder / "clone", artifacts)
        print(f"{title}: {text.strip()}: {f'{time.monotonic() - start:.0f} s' if ran else 'left out'}", flush=True)


def variables(job: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Return the environment of a job: this machine's, GitHub's, and the job's where it names what is here."""
    version = re.search(r'^__version__ = "(.+)"', (ROOT / "tfprof_nb/__init__.py").read_text(), re.MULTILINE)
    of_job = {k: v for k, v in job.get("env", {}).items() if not v.startswith("/") or Path(v).exists()}
    github = {
        "CI": "true",
        "GITHUB_REF_NAME": f"v{version[1] if version else ''}",
        "GITHUB_REPOSITORY": "owner/tfprof_nb",
    }
    path = f"{folder / 'python' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "VIRTUAL_ENV"))}
    return inherited | of_job | github | {"PATH": path}


def command(step: Step, clone: Path, env: Mapping[str, str]) -> bool:
    """Run a command, unless it writes to GitHub."""
    if step["run"].startswith("gh "):
        return False
    shell = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    folder = clone / step.get("working-directory", ".")
    subprocess.run(shell, cwd=folder, env=env, stdin=subprocess.DEVNULL, check=True)
    return True


def action(step: Step, clone: Path, artifacts: Path) -> bool:
    """Do what an action does, where later steps need it."""
    inputs = step.get("with", {})
    match re.findall(r"^actions/([a-z-]+)", step["uses"]):
        case ["checkout"]:
            subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        case ["setup-python" | "setup-node"]:  # `run_job` made the one, the other is the machine's
            pass
        case ["upload-artifact" | "upload-pages-artifact"] if "if" not in step:
            source, target = clone / inputs["path"], artifacts / inputs.get("name", "github-pages")
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                target.mkdir()
                shutil.copy(source, target)
        case ["download-artifact"]:
            shutil.copytree(artifacts / inputs.get("name", ""), clone / inputs.get("path", "."), dirs_exist_ok=True)
        case _:
            return False
    return True


if __name__ == "__main__":
    with TemporaryDirectory(prefix="tfprof_nb_artifacts_") as artifacts:
        for title, job, python in jobs(set(sys.argv[1:])):
            with TemporaryDirectory(prefix="tfprof_nb_job_") as folder:
                run_job(title, job, python, Path(folder), Path(artifacts))
