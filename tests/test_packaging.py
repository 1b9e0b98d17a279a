"""What users install: the wheel brings the JavaScript and needs neither Node nor TensorFlow."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from trove_classifiers import classifiers

import tfprof_nb
from builders import XSpace
from environments import environment, interpreter
from tfprof_nb.views.pages import PAGES

BUNDLES = {
    f"tfprof_nb/render/static/{name}.js" for name in ("flame", "head", "readout", "report", "table", "tabs", "trace")
}


def metadata(root, **environment):
    """What the build writes about the package."""
    command = [sys.executable, "-m", "hatchling", "metadata"]
    done = subprocess.run(command, cwd=root, env=os.environ | environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_each_file_names_the_version(root):
    version = tfprof_nb.__version__
    assert json.loads((root / "js" / "package.json").read_text())["version"] == version
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text()
    newest = re.search(r"^## \[(\d.*)\] - \d{4}-\d{2}-\d{2}$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest[1] == version


def test_classifiers_are_those_of_the_index_and_fit_the_versions(root):
    about = metadata(root)
    assert set(about["classifiers"]) <= classifiers
    pythons = [name.rpartition(" ")[2] for name in about["classifiers"] if ":: Python :: 3." in name]
    assert about["requires-python"] == f"<3.{int(pythons[-1][2:]) + 1},>={pythons[0]}"


def test_a_workflow_gives_the_package_its_addresses(root):
    address = "https://github.com/Some-One/a_fork"
    about = metadata(root, GITHUB_REPOSITORY="Some-One/a_fork", GITHUB_SERVER_URL="https://github.com")
    assert about["urls"]["Source"] == address
    assert about["urls"]["Documentation"] == "https://some-one.github.io/a_fork/"
    links = re.findall(r"\]\(([^)]+)\)", about["readme"]["text"])
    assert links
    assert all(link.startswith(("https://", "#")) for link in links)
    tag = f"v{tfprof_nb.__version__}"
    assert f"{address}/raw/{tag}/docs/images/overview.png" in links
    assert f"{address}/blob/{tag}/docs/README.md" in links


def test_elsewhere_the_package_has_no_addresses(root):
    about = metadata(root, GITHUB_REPOSITORY="")
    assert "urls" not in about
    assert about["readme"]["text"] == (root / "README.md").read_text(encoding="utf-8")


def test_the_sdist_holds_the_bundles_and_their_sources(dist):
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert names >= BUNDLES | {"js/package.json", "LICENSE", "README.md", "CITATION.cff", "hatch_build.py"}
    assert not any("node_modules" in name for name in names)


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    name = f"tfprof_nb-{tfprof_nb.__version__}"
    lab = f"{name}.data/data/share/jupyter/labextensions/tfprof-nb"
    with zipfile.ZipFile(wheel) as archive:
        names, about = archive.namelist(), json.loads(archive.read(f"{lab}/package.json"))
    assert set(names) >= BUNDLES | {"tfprof_nb/__init__.py", "tfprof_nb/py.typed", f"{lab}/package.json"}
    assert len([file for file in names if file.startswith(f"{lab}/static/remoteEntry.")]) == 1
    assert f"{lab}/{about['jupyterlab']['_build']['load']}" in names
    assert about["version"] == tfprof_nb.__version__
    assert {file.partition("/")[0] for file in names} == {"tfprof_nb", f"{name}.dist-info", f"{name}.data"}


def test_wheel_and_sdist_are_small(dist):
    """Five sixths of the wheel are Python; most of the rest are the names and hashes of 550 files."""
    bytes_of = {path.suffix: path.stat().st_size for path in dist.iterdir()}
    assert bytes_of[".whl"] < 1_230_000
    assert bytes_of[".gz"] < 1_000_000


def test_the_installed_wheel_imports_without_tensorflow_and_node(wheel, tmp_path):
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(tmp_path), str(wheel)]
    subprocess.run([sys.executable, *install], check=True)
    probe = """
import sys
sys.modules["tensorflow"] = None  # any import of it now fails, as where it is not installed
import tfprof_nb, pathlib
print(tfprof_nb.__file__)
print(len(list((pathlib.Path(tfprof_nb.__file__).parent / "render" / "static").glob("*.js"))))
"""
    done = subprocess.run(
        [sys.executable, "-c", probe],
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    where, bundles = done.stdout.split()
    assert where.startswith(str(tmp_path))
    assert int(bundles) >= len(BUNDLES)


PROBE = """
import sys, tfprof_nb as tp
heavy = {"IPython", "bqplot", "ipywidgets", "matplotlib", "numpy", "pandas"} & set(sys.modules)
assert not heavy, heavy
profile = tp.load(sys.argv[1])
for feature in sys.argv[2:]:
    view = getattr(profile, feature).view()
    view._build()
    assert str(view) and "<div" in view.to_html(), feature
assert profile.sql("select count(*) as n from ops").n.item() == 1
assert len(profile.xprof("overview_page")["steps"]) == 2
print(profile)
"""


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheel_works_in_a_clean_environment(wheel, version, tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for step in range(2):
        python.event("train", start_us=1000 * step, duration_us=900, step_num=step, _r=1)
        python.event("MatMul:MatMul", start_us=1000 * step, duration_us=300, cost=0.5, flow=-1)
    profile = space.write(tmp_path / "host.xplane.pb")
    with environment(wheel, python=interpreter(version)) as inside:

        def run(*arguments):
            command = [inside, *map(str, arguments)]
            return subprocess.run(command, env={"PATH": ""}, check=True, capture_output=True, text=True).stdout

        assert "2 steps" in run("-c", PROBE, profile, *PAGES)
        run("-m", "tfprof_nb", "report", profile, "-o", tmp_path / "report.html")
        assert "2 steps" in (tmp_path / "report.html").read_text(encoding="utf-8")
        shared = Path(inside).parents[1] / "share" / "jupyter" / "labextensions" / "tfprof-nb"
        assert {path.name for path in shared.iterdir()} == {"install.json", "package.json", "static"}
