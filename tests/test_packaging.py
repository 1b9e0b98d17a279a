"""What users install: the wheel brings the JavaScript and needs neither Node nor TensorFlow."""

import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

import tfprof_nb

BUNDLES = {f"tfprof_nb/render/static/{name}.js" for name in ("head", "readout", "table", "tabs", "trace", "trace-page")}


@pytest.fixture(scope="module")
def dist(root, tmp_path_factory):
    """A folder with an sdist of the checkout and the wheel built from that sdist, by a PATH without Node."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(root)]
    done = subprocess.run(build, env=os.environ | {"PATH": ""}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(dist):
    (path,) = dist.glob("*.whl")
    return path


def test_the_sdist_holds_the_bundles_and_their_sources(dist):
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert names >= BUNDLES | {"js/package.json", "LICENSE", "README.md"}
    assert not any("node_modules" in name for name in names)


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    name = f"tfprof_nb-{tfprof_nb.__version__}"
    lab = f"{name}.data/data/share/jupyter/labextensions/tfprof-nb"
    names = zipfile.ZipFile(wheel).namelist()
    assert set(names) >= BUNDLES | {"tfprof_nb/__init__.py", "tfprof_nb/py.typed", f"{lab}/package.json"}
    assert len([file for file in names if file.startswith(f"{lab}/static/remoteEntry.")]) == 1
    assert {file.partition("/")[0] for file in names} == {"tfprof_nb", f"{name}.dist-info", f"{name}.data"}


def test_the_wheel_is_small(wheel):
    assert wheel.stat().st_size < 1_000_000


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
