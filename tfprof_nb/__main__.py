"""The command line, for machines without a notebook: ``python -m tfprof_nb report LOGDIR -o report.html``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from tfprof_nb._errors import TfprofError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0, or 1 with the reason on standard error."""
    args = _parser().parse_args(arguments)
    try:
        _report(args) if args.command == "report" else _show(args)
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
        "path", nargs="+", type=Path, metavar="LOGDIR", help="A logdir (its newest run), a run folder, or files."
    )
    report = commands.add_parser("report", parents=[source], help="write an HTML report that opens offline")
    report.add_argument("-o", "--output", type=Path, default=Path("report.html"), help="default: report.html")
    commands.add_parser("show", parents=[source], help="print the answer as text")
    return parser


def _report(args: argparse.Namespace) -> None:
    from tfprof_nb.api.load import load

    profile = load(args.path if len(args.path) > 1 else args.path[0])
    _say(f"Reading {', '.join(str(file) for file in profile.files)} ...")
    target = profile.to_html(args.output)
    _say(f"The report is in {target.absolute()} ({target.stat().st_size / 1e3:.0f} kB).")


def _show(args: argparse.Namespace) -> None:
    from tfprof_nb.api.load import load

    print(load(args.path if len(args.path) > 1 else args.path[0]))  # noqa: T201


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
