"""The captures that are kept are those of the programs as they are written now, and tell nothing of the machine."""

import re

from captures import archive, sources
from captures.fixtures import line_with, trouble_with

ABSOLUTE = re.compile(rb'"(?:/|[A-Z]:\\)[\w./-]+\.py"')


def test_all_are_recorded_and_paths_are_those_of_any_checkout():
    """Files are named from the checkout or from Python's library; cells have no path. Each archive is read once."""
    troubles, machines = [], []
    for name in sources.names():
        trouble = trouble_with(name)
        troubles += [trouble] if trouble else []
        if archive.file_of(name).is_file() and ABSOLUTE.search(archive.parts(name)[archive.BESIDE]):
            machines.append(name)
    assert (troubles, machines) == ([], [])


def test_none_is_left_of_a_program_that_is_gone():
    kept = {file.relative_to(archive.FOLDER).as_posix() for file in archive.FOLDER.rglob(f"*{archive.ENDING}")}
    assert kept == {f"{name}{archive.ENDING}" for name in sources.names()}


TEXT = """\
import tensorflow as tf

SIZE = 3


def unused():
    return 1


def used(x):
    return SIZE * x


@program
def one():
    return tf.tanh(used(1.0))
"""


def test_the_text_of_a_program_is_what_it_uses():
    statements = sources.Statements(TEXT)
    assert statements.programs == ["one"]
    assert statements.text("one").splitlines() == [
        "import tensorflow as tf",
        "SIZE = 3",
        "def used(x):",
        "    return SIZE * x",
        "def one():",
        "    return tf.tanh(used(1.0))",
    ]


def test_a_line_is_found_in_its_function():
    assert line_with(TEXT, "used", "return") == 11
    assert line_with(TEXT, "one", "@program") == 14
    assert line_with(TEXT, "", "SIZE") == 3
