"""The command line, for machines without a notebook: ``python -m tfprof_nb report LOGDIR -o report.html``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tfprof_nb._errors import BudgetError, TfprofError
from tfprof_nb._units import number
from tfprof_nb.formats.files import local_path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0, or 1 with the reason on standard error."""
    args = _parser().parse_args(arguments)
    try:
        _COMMANDS[args.command](args)
    except (TfprofError, OSError) as error:
        print(f"tfprof_nb: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tfprof_nb", description="Read TensorFlow profiles.")
    parser.add_argument("--version", action="version", version=version("tfprof_nb"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    source = argparse.ArgumentParser(add_help=False)
    source.add_argument(
        "path", nargs="+", metavar="LOGDIR", help="A logdir (its newest run), a run folder, or files; URLs too."
    )
    report = commands.add_parser("report", parents=[source], help="write an HTML report that opens offline")
    report.add_argument("-o", "--output", type=Path, help="default: report.html, or the format's ending")
    report.add_argument(
        "--format",
        choices=("html", "md", "json"),
        help="html: all; md, json: in brief, for an issue or an assistant (default: the output's ending, else html)",
    )
    commands.add_parser("show", parents=[source], help="print the answer as text")
    compare = commands.add_parser("compare", help="compare a program before and after a change")
    for side in ("before", "after"):
        compare.add_argument(
            side, metavar=side.upper(), help="a logdir (its newest run), a run folder, a file; URLs too"
        )
    compare.add_argument("--all-runs", action="store_true", help="every run in a logdir is a repeat of the program")
    compare.add_argument(
        "--max-slowdown", type=_factor, metavar="FACTOR", help="exit with 1 if it became more than so many times slower"
    )
    return parser


def _factor(text: str) -> float:
    factor = float(text)
    if not 0 < factor < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a factor above zero, such as 1.05")
    return factor


def _report(args: argparse.Namespace) -> None:
    from tfprof_nb.api.load import load

    profile = load(args.path if len(args.path) > 1 else args.path[0])
    ending = args.output.suffix.lstrip(".") if args.output else "html"
    form = args.format or (ending if ending in _BRIEF else "html")
    target = local_path(args.output or f"report.{form}")
    _say(f"Reading {', '.join(str(file) for file in profile.files)} ...")
    if form == "html":
        profile.to_html(target)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_BRIEF[form](profile), encoding="utf-8")
    _say(f"The report is in {target.absolute()} ({target.stat().st_size / 1e3:.0f} kB).")


def _show(args: argparse.Namespace) -> None:
    from tfprof_nb.api.load import load

    print(load(args.path if len(args.path) > 1 else args.path[0]))  # noqa: T201


def _compare(args: argparse.Namespace) -> None:
    from tfprof_nb.api.compare import compare
    from tfprof_nb.views.compare import answer

    before, after = (_runs(path) if args.all_runs else path for path in (args.before, args.after))
    compared = compare(before, after)
    for note in (*answer(compared), *compared.notes):
        print(getattr(note, "text", note))  # noqa: T201
    if args.max_slowdown is not None:
        _check_slowdown(compared.summary, args.max_slowdown)


def _runs(logdir: str) -> list[Path | str]:
    from tfprof_nb.api.find_runs import find_runs

    return [run.place for run in find_runs(logdir)]


def _check_slowdown(numbers: dict[str, Any], most: float) -> None:
    """Raise an error if the program became slower than allowed, or if that cannot be compared."""
    if not numbers["same_work"]:
        why = "; ".join(numbers["why_not_same"])
        raise BudgetError(f"The slowdown cannot be checked, as the work is not the same: {why}.")
    slowdown = 1 / numbers["speedup"] if numbers["speedup"] else float("nan")
    if numbers["verdict"] == "slower" and slowdown > most:
        raise BudgetError(f"{number(slowdown)} times slower, the limit is {number(most)}.")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


_BRIEF: dict[str, Callable[[Any], str]] = {
    "md": lambda profile: profile.to_markdown(),
    "json": lambda profile: json.dumps(profile.to_dict(), indent=1, ensure_ascii=False) + "\n",
}
_COMMANDS = {"report": _report, "show": _show, "compare": _compare}

if __name__ == "__main__":
    sys.exit(main())
