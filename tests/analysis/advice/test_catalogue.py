"""The catalogue of rules: every finding is a case of a declared rule, and no code reads how its sentence begins."""

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.analysis import advice
from tfprof_nb.analysis.advice import catalogue
from tfprof_nb.analysis.advice.catalogue import belongs_to, ordered, rules
from tfprof_nb.analysis.advice.rule import Finding, Rule
from tfprof_nb.views.pages import PAGES

FOLDER = Path(advice.__file__).parent
CHECKS, FAILURE = catalogue._checks, catalogue._failure  # before a fixture lets rules raise
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def trees(folder=FOLDER):
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py")}


def calls(*names):
    """Return the calls of functions of these names in the package."""
    nodes = ((path, node) for path, tree in trees().items() for node in ast.walk(tree))
    return [
        (path.name, node)
        for path, node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    ]


def test_ids_are_unique_and_in_kebab_case():
    modules = [module for name, module in sys.modules.items() if name.startswith(advice.__name__) and rules()]
    declared = {value for module in modules for value in vars(module).values() if isinstance(value, Rule)}
    assert sorted(rule.id for rule in declared) == sorted(rules())
    assert [rule for rule in rules() if not KEBAB.fullmatch(rule)] == []


def test_rules_name_only_rules_and_pages():
    known = rules()
    named = {name for rule in known.values() for name in (*rule.supersedes, *rule.after, rule.part_of)} - {""}
    assert named <= set(known)
    assert {rule.page for rule in known.values()} <= set(PAGES)
    assert not [rule.id for rule in known.values() if rule.part_of and known[rule.part_of].part_of]


def test_a_rule_stands_in_the_module_of_its_name():
    for path in (FOLDER / "rules").rglob("[!_]*.py"):
        module = importlib.import_module(".".join(path.relative_to(FOLDER.parents[2]).with_suffix("").parts))
        assert module.RULE.id == path.stem.replace("_", "-")
        assert rules()[module.RULE.id].group == path.parent.name
        assert hasattr(module, "check") != hasattr(module, "cause")  # of waiting


@pytest.mark.parametrize("rule", rules().values(), ids=list(rules()))
def test_a_rule_says_what_it_looks_for_and_why(rule):
    assert isinstance(rule, Rule)
    assert rule.title[0].isupper() or rule.title.startswith(("adapt", "compile", "fit", "float", "predict", "tf."))
    assert not rule.title.endswith(".")
    assert not rule.action or (rule.action[0].isupper() and not rule.action.endswith(".") and len(rule.action) <= 50)
    assert rule.what.startswith("Looks for ")
    assert rule.what.endswith(".")
    assert rule.why.endswith(".")
    assert 0 <= rule.moderate <= rule.high <= 100


def test_every_finding_is_a_case_of_a_declared_rule():
    """Findings are made in one place, of a case and its rule; causes of waiting are cases of the rule that looks."""
    assert {name for name, _ in calls("Finding")} == {"findings.py"}
    assert {name for name, _ in calls("finding_of")} == {"catalogue.py"}
    named = [
        ast.unparse(word.value) for _, node in calls("Case", "Cause") for word in node.keywords if word.arg == "rule"
    ]
    assert named == ["cause.rule"]  # that says why steps wait


def test_no_code_reads_the_beginning_of_a_sentence(root):
    reads = [
        (path.name, node.lineno)
        for path, tree in trees(root / "tfprof_nb").items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("startswith", "match", "partition", "removeprefix", "search")
        and re.search(r"\bfinding\b", ast.unparse(node.func.value))
    ]
    assert reads == []


def test_what_supersedes_a_whole_supersedes_its_parts():
    assert belongs_to("no-prefetch", "input-bound")
    assert belongs_to("eager-line", "eager-ops")
    assert not belongs_to("eager-ops", "eager-line")


def test_the_public_table_has_all_rules():
    table = tp.rules()
    assert list(table.columns) == ["rule", "title", "group", "page", "what", "why"]
    assert list(table["rule"]) == list(rules())
    assert table.notna().all(axis=None)


def test_a_rule_that_fails_takes_nothing_from_the_others(tmp_path, monkeypatch):
    """Tests let it raise (`rules_raise`); users get a note."""

    error = IndexError("list index out of range")

    def check(_evidence, _earlier):
        raise error

    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(4):
        python.event("train", start_us=1000 * i, duration_us=900, step_num=i, _r=1)
        python.event("callback Slow.on_train_batch_end", start_us=1000 * i + 400, duration_us=500)
    space.write(tmp_path / "host.xplane.pb")
    failing = [(name, check if name == "sync-each-step" else own) for name, own in CHECKS()]
    monkeypatch.setattr(catalogue, "_failure", FAILURE)
    monkeypatch.setattr(catalogue, "_checks", lambda: failing)
    result = tp.load(tmp_path).advice
    assert "slow-callback" in set(result.table["rule"])
    assert result.notes == [FAILURE(rules()["sync-each-step"], error)]


def finding(rule, cell_percent, severity="high"):
    return Finding(severity, "", "", "", rule=rule, place="cell line 1", cell_percent=cell_percent)


@pytest.mark.parametrize(
    ("findings", "first"),
    [
        ([finding("float64", 20.0), finding("long-validation", 60.0)], "long-validation"),
        ([finding("old-iterators-end", 60.0), finding("float64", 20.0)], "float64"),
        ([finding("old-iterators-end", 60.0), finding("float64", 10.0, "medium")], "old-iterators-end"),
    ],
)
def test_what_comes_by_chance_leads_only_where_nothing_else_is_as_severe(findings, first):
    told = [one.rule for one in ordered(findings)]
    assert told[0] == first
    assert sorted(told) == sorted(one.rule for one in findings)
