"""What is advised on recorded programs."""

import pytest

from tfprof_nb.analysis.advice import catalogue
from tfprof_nb.analysis.advice.findings import finding_of


@pytest.fixture
def the_one():
    """Return the only finding of a rule."""

    def one(table, rule):
        (row,) = table[table["rule"] == rule].to_dict("records")
        return row

    return one


@pytest.fixture
def found_by():
    """Return what some rules find in results that only they look at."""

    def found(evidence, *names):
        cases = {}
        for name, check in catalogue._checks():
            if name in names:
                rule = catalogue.rules()[name]
                earlier = {name: cases.get(name, ()) for name in rule.after}
                own = [case for case in check(evidence, earlier) if not case.percent < rule.moderate]
                cases[rule.id] = [finding_of(rule, case, evidence) for case in own]
        return [finding for of_rule in cases.values() for finding in of_rule]

    return found
