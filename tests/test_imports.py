"""Importing the package must stay light: a notebook may be read where TensorFlow is not installed."""

import subprocess
import sys

import pytest

HEAVY = {"tensorflow", "keras", "IPython", "ipywidgets", "anywidget", "bqplot", "matplotlib", "xprof", "duckdb"}


def modules_after(statement):
    """Top-level names of all modules loaded in a fresh Python once it has run ``statement``."""
    code = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_probe_sees_what_is_imported():
    assert "IPython" in modules_after("import IPython")


def test_importing_the_package_loads_nothing_heavy():
    assert not modules_after("import tfprof_nb") & HEAVY


@pytest.mark.parametrize("layer", ["tfprof_nb.decode", "tfprof_nb.analysis"])
def test_reading_profiles_needs_no_tensorflow_and_no_notebook(layer):
    walk = "for m in pkgutil.walk_packages(p.__path__, p.__name__ + '.'): importlib.import_module(m.name)"
    statement = f"import importlib, pkgutil, {layer} as p\n{walk}"
    assert not modules_after(statement) & HEAVY


@pytest.mark.parametrize("module", ["tfprof_nb.views.dashboard", "tfprof_nb.api.find_runs"])
def test_text_and_reports_need_no_widgets(module):
    assert not modules_after(f"import {module}") & HEAVY
