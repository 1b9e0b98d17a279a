"""What a live profile in brief must not tell: the person's name and secrets, the machine, its folders."""

import json
import os
import socket
from pathlib import Path

import pytest

import tfprof_nb as tp

pytestmark = pytest.mark.tensorflow
SECRET = "s3cr3t-t0ken"
PROGRAM = """
import tensorflow as tf

def slow(x):
    for _ in range(20):
        x = tf.tanh(x)
    return x

def run():
    for _ in range(40):
        slow(tf.ones((64, 64)))
"""


@pytest.fixture
def profile(tmp_path, monkeypatch):
    """A profile of a program in somebody's home folder."""
    home = tmp_path / "ada.lovelace"
    home.mkdir()
    program = home / "train.py"
    program.write_text(PROGRAM)
    monkeypatch.setenv("TFPROF_TEST_SECRET", SECRET)
    scope = {}
    exec(compile(PROGRAM, str(program), "exec"), scope)
    with tp.profile("slow ops", logdir=home / "logs") as p:
        scope["run"]()
    return p


def test_nothing_of_the_persons_machine_is_in_it(profile):
    for text in (profile.to_markdown(), json.dumps(profile.to_dict())):
        for secret in (SECRET, "ada.lovelace", str(Path.home()), socket.gethostname(), os.environ["PATH"]):
            assert secret not in text.replace("slow ops", "")
