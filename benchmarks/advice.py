"""Whether the advice names the fault that was planted, its place, and the gain.

    python -m benchmarks.advice [NAME ...] [--repeat 3] [--jobs 2]

Runs the programs of ``advice_programs`` in processes of their own and prints a table: first each cell is profiled so
often, some at a time, since what is said must hold on a busy machine; then, one at a time, a program's cell and its
fixed cell run in turn, for the gain, and the cell with the code of the advice. What a fault costs does not depend on
the advice: those times are kept in ``build/bench/advice`` until a program or TensorFlow changes. Without names, all
programs run (about an hour), and the table is written to ``docs/advice-truth.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from benchmarks import advice_programs
from benchmarks.advice_judgement import Finding, is_alarm, named, place_of, predicted
from benchmarks.advice_pasted import pasted
from benchmarks.advice_programs import ROUNDS, Program

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "advice-truth.md"
KEPT = ROOT / "build" / "bench" / "advice"
COSTS_PERCENT, PASTED_PERCENT = 15, 10  # what a planted fault must cost, what its fix must gain
_SHARE = re.compile(r"[\d.,]+%")


@dataclass(frozen=True)
class Outcome:
    """What the processes of one program told: what its cells took, and per profile the findings and the headline."""

    program: Program
    peak_mb: dict[str, float]
    seconds: dict[str, list[float]]
    findings: list[list[Finding]]
    headlines: list[str]
    pasted_seconds: list[float] | None = None

    def named_first(self) -> list[bool]:
        """Per profile, whether the first finding names the fault."""
        return [bool(found) and named(self.program, found[0]) for found in self.findings]

    def named_at_all(self) -> list[bool]:
        """Per profile, whether any finding names the fault."""
        return [any(named(self.program, finding) for finding in found) for found in self.findings]

    def first_findings(self) -> list[str]:
        """The different first findings, with their places; shares of the time, which vary, make no difference."""
        told = [_with_place(found[0]) if found else "-" for found in self.findings]
        return list({_SHARE.sub("", text): text for text in told}.values())

    def predictions(self) -> list[tuple[float, float]]:
        """Per profile, the range of the gain that the first finding predicts, where it predicts one."""
        ranges = [predicted(found[0]) for found in self.findings if found]
        return [one for one in ranges if one]

    def taken(self) -> tuple[float, float]:
        """What the cell and the fixed cell took: MB where the fault costs memory, else seconds."""
        if self.program.saves == "memory":
            return self.peak_mb["cell"], self.peak_mb["fixed"]
        return statistics.median(self.seconds["cell"]), statistics.median(self.seconds["fixed"])

    def gain_percent(self) -> float:
        """How much less the fixed cell takes."""
        cell, fixed = self.taken()
        return 100 * (1 - fixed / cell)

    def is_as_predicted(self) -> bool:
        """Whether the first finding names the fault, and the gain lies where it says."""
        gain = self.gain_percent()
        return all(self.named_first()) and any(low <= gain <= high for low, high in self.predictions()[:1])

    def pasted_gain_percent(self) -> float:
        """How much less the cell takes with the code of the first finding pasted; NaN if it has none."""
        if not self.pasted_seconds:
            return float("nan")
        return 100 * (1 - statistics.median(self.pasted_seconds) / statistics.median(self.seconds["cell"]))

    def alarms(self) -> list[bool]:
        """Per profile, whether a person would think that something is wrong."""
        return [is_alarm(found, line) for found, line in zip(self.findings, self.headlines, strict=True)]


def _with_place(finding: Finding) -> str:
    said, place = str(finding["finding"]), place_of(finding)
    return said if not place or place in said else f"{said} ({place})"


def outcome(program: Program, profiles: list[dict[str, Any]]) -> Outcome:
    """Measure what a fault costs, and what the code of the advice gains, each in a fresh process."""
    gain = {"peak_mb": {}, "seconds": {}} if program.is_healthy else _cost(program)
    findings, texts = [one["findings"] for one in profiles], [one["text"] for one in profiles]
    pasted_seconds = None if program.is_healthy else _pasted_seconds(program, findings[0])
    return Outcome(program, gain["peak_mb"], gain["seconds"], findings, list(map(headline, texts)), pasted_seconds)


def _cost(program: Program) -> dict[str, Any]:
    """Measure what a fault costs, or take what was measured of the same program."""
    text = json.dumps([vars(program), ROUNDS, version(packages_distributions()["tensorflow"][0])])
    kept = KEPT / f"{program.name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not kept.exists():
        measured = told("gain", program)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(measured), encoding="utf-8")
    return dict(json.loads(kept.read_text(encoding="utf-8")))


def _pasted_seconds(program: Program, findings: list[Finding]) -> list[float] | None:
    changed = pasted(program, findings[0]) if findings else None
    if changed is None:
        return None
    return list(told("pasted", replace(program, setup=changed[0], cell=changed[1]))["seconds"])


def told(what: str, program: Program) -> dict[str, Any]:
    """Run one program in a process of its own; return what came out (`advice_programs.__main__`)."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "told.json"
        result.write_text(json.dumps(vars(program)), encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.advice_programs", what, program.name, str(result)]
        surroundings = {"PYTHONPATH": str(ROOT), "TMPDIR": folder, "IPYTHONDIR": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(
            command, cwd=folder, env=os.environ | surroundings, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(result.read_text(encoding="utf-8"))


def headline(text: str) -> str:
    """Return the first sentence of a profile's text, below its title."""
    lines = text.partition("\n\n")[0].splitlines()[2:]
    return " ".join(line.strip() for line in lines)


def faults_table(outcomes: list[Outcome]) -> str:
    """Return a row per planted fault."""
    head = [
        "program",
        "planted",
        "first finding",
        "named first",
        "named at all",
        "predicted gain",
        "measured gain",
        "pasted",
    ]
    rows = [
        [
            outcome.program.name,
            outcome.program.kind,
            " / ".join(outcome.first_findings()),
            _of(outcome.named_first()),
            _of(outcome.named_at_all()),
            _ranges(outcome),
            _measured(outcome),
            "-" if outcome.pasted_seconds is None else f"{outcome.pasted_gain_percent():.0f}%",
        ]
        for outcome in outcomes
    ]
    return _table(head, rows)


def healthy_table(outcomes: list[Outcome]) -> str:
    """Return a row per healthy program."""
    head = ["program", "headline", "first finding", "alarm"]
    rows = [
        [
            outcome.program.name,
            " / ".join(dict.fromkeys(outcome.headlines)),
            " / ".join(outcome.first_findings()),
            _of(outcome.alarms()),
        ]
        for outcome in outcomes
    ]
    return _table(head, rows)


def totals(faults: list[Outcome], healthy: list[Outcome]) -> str:
    """Return what the tables come to. A count of programs demands the same of each of their profiles."""
    timed = [one for one in faults if one.program.saves == "time"]
    counts = [
        ("named by the first finding", [all(one.named_first()) for one in faults]),
        ("named by any finding", [all(one.named_at_all()) for one in faults]),
        ("the same first finding in every profile", [len(one.first_findings()) == 1 for one in faults]),
        ("named first, and the measured gain lies in the predicted range", [one.is_as_predicted() for one in timed]),
        (
            f"the code of the first finding, pasted, gains at least {PASTED_PERCENT}%",
            [one.pasted_gain_percent() >= PASTED_PERCENT for one in faults if one.pasted_seconds],
        ),
        (f"the fault costs at least {COSTS_PERCENT}%", [one.gain_percent() >= COSTS_PERCENT for one in faults]),
        ("healthy programs with an alarm", [any(one.alarms()) for one in healthy]),
    ]
    return _table(["", "programs"], [[what, f"{sum(which)} of {len(which)}"] for what, which in counts])


def page(outcomes: list[Outcome], repeats: int) -> str:
    """Return the page of the documentation."""
    faults = [one for one in outcomes if not one.program.is_healthy]
    healthy = [one for one in outcomes if one.program.is_healthy]
    tensorflow = version(packages_distributions()["tensorflow"][0])
    return f"""\
# Advice against the truth

{len(faults)} small programs have one planted fault each, {len(healthy)} have none: see `benchmarks/advice_programs`.
Each was profiled with `%%tfprofile`, {_times(repeats)} in a fresh process. A finding names a fault if it
states the cause and tells its place in the code: the function or the line. The measured gain is the part of the cell's
time (of its memory, where the fault costs memory) that is gone once the fault is fixed. It compares medians of {ROUNDS}
runs of each cell, in turn, without a profiler. *At most* stands for a prediction without a lower bound. Where the first
finding gives new code, *pasted* is what the program gains with that code in the place that the finding names.

Written by `python -m benchmarks.advice --repeat {repeats}` on {os.cpu_count()} cores (load average
{os.getloadavg()[2]:.1f}), with TensorFlow {tensorflow} and Keras {version("keras")}.

## In short

{totals(faults, healthy)}

## Planted faults

{faults_table(faults)}

## Healthy programs

An alarm is a finding of severity high or medium, or a headline that calls the program input-bound.

{healthy_table(healthy)}
"""


def _times(repeats: int) -> str:
    return "once" if repeats == 1 else f"{repeats} times, each time"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _of(answers: list[bool]) -> str:
    """Say how many answers are yes; of unanimous ones only yes or no."""
    return f"{sum(answers)} of {len(answers)}" if len(set(answers)) > 1 else "yes" if all(answers) else "no"


def _ranges(outcome: Outcome) -> str:
    told = [f"{low:.0f}-{high:.0f}%" if low > 0 else f"at most {high:.0f}%" for low, high in outcome.predictions()]
    return " / ".join(dict.fromkeys(told)) or "-"


def _measured(outcome: Outcome) -> str:
    unit, digits = ("MB", 0) if outcome.program.saves == "memory" else ("s", 1)
    cell, fixed = (f"{taken:,.{digits}f}" for taken in outcome.taken())
    return f"{outcome.gain_percent():.0f}% ({cell} to {fixed} {unit})"


def _progress(outcome: Outcome) -> str:
    """Say in one line how a program went."""
    if outcome.program.is_healthy:
        return f"alarm: {_of(outcome.alarms())}"
    named_first, gain = _of(outcome.named_first()), _measured(outcome)
    return f"named first: {named_first}, gains {gain}: {' / '.join(outcome.first_findings())}"


def _outcomes(names: list[str], repeats: int, jobs: int) -> Iterator[Outcome]:
    """Profile all programs, then measure them; leave out those that fail, and say so."""
    programs = [advice_programs.load(name) for name in names]
    with ThreadPoolExecutor(jobs) as pool:
        running: list[list[Future[dict[str, Any]]]] = [
            [pool.submit(told, "advice", program) for _ in range(repeats)] for program in programs
        ]
    for program, profiles in zip(programs, running, strict=True):
        try:
            found = outcome(program, [one.result() for one in profiles])
        except RuntimeError as error:
            print(f"{program.name} failed:\n{error}", file=sys.stderr, flush=True)
        else:
            print(f"{program.name}: {_progress(found)}", file=sys.stderr, flush=True)
            yield found


def main() -> None:
    """Run the programs that the command line names, and print; write the page if these are all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to run (default all)")
    parser.add_argument("--repeat", type=int, default=1, help="profiles of each program (default 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="profiles at a time (default: cores)")
    options = parser.parse_args()
    names = options.names or advice_programs.names()
    outcomes = list(_outcomes(names, options.repeat, options.jobs))
    text = page(outcomes, options.repeat)
    print(text)
    if len(outcomes) < len(names):
        raise SystemExit("Not all programs ran.")
    if not options.names:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
