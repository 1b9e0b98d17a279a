"""What is advised on recorded programs."""

import pytest


@pytest.fixture
def advised(captured):
    """Return the advice on a recorded program."""

    def advise(name):
        return captured(name).advice.table

    return advise


@pytest.fixture
def the_one():
    """Return the only finding of a rule."""

    def one(table, rule):
        (row,) = table[table["rule"] == rule].to_dict("records")
        return row

    return one
