"""The command line, for terminals, scripts and agents: ``python -m tfprof_nb overview LOGDIR``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof_nb._errors import BudgetError, TfprofError
from tfprof_nb._units import number, printable
from tfprof_nb.formats.files import local_path

if TYPE_CHECKING:
    from tfprof_nb.profiles import Profile

# The pages that have a table, each a command; `overview` is the answer, and a trace is no text.
_PAGES = {
    "advice": "what to change, and what it may save",
    "breakdown": "where the time of the cell went, all of it",
    "steps": "a row per step, and what it did",
    "source": "time by line of code",
    "python": "what Python ran between the ops",
    "ops": "time by op",
    "input_pipeline": "how long steps wait for data",
    "tf_data": "the stages of the slowest pipeline",
    "kernels": "time by GPU kernel",
    "memory": "what was alive at the peak",
    "functions": "which functions were traced, and how often",
    "layers": "time by layer",
}


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
    _add_path(source)
    report = commands.add_parser("report", parents=[source], help="write an HTML report that opens offline")
    report.add_argument("-o", "--output", type=Path, help="default: report.html, or the format's ending")
    report.add_argument(
        "--format",
        choices=("html", "md", "json"),
        help="html: all; md, json: in brief, for an issue or an assistant (default: the output's ending, else html)",
    )
    form = argparse.ArgumentParser(add_help=False)
    form.add_argument("--format", choices=("text", "md", "json"), default="text", help="default: text")
    rows = argparse.ArgumentParser(add_help=False)
    rows.add_argument("--rows", type=_whole, default=20, metavar="N", help="rows of tables in md, json (default: 20)")
    parents = [source, form, rows]
    commands.add_parser("overview", parents=parents, help="the answer: what takes the time, and what to change")
    for name, about in _PAGES.items():
        commands.add_parser(name, parents=parents, help=about)
    sql = commands.add_parser("sql", parents=[form, rows], help="what an SQL query over the tables gives")
    sql.add_argument("query", metavar="QUERY", help="DuckDB's dialect; tables have the names of pages")
    _add_path(sql)
    compare = commands.add_parser("compare", parents=[form, rows], help="compare a program before and after a change")
    for side in ("before", "after"):
        compare.add_argument(
            side, metavar=side.upper(), help="a logdir (its newest run), a run folder, a file; URLs too"
        )
    compare.add_argument("--all-runs", action="store_true", help="every run in a logdir is a repeat of the program")
    compare.add_argument(
        "--max-slowdown", type=_factor, metavar="FACTOR", help="exit with 1 if it became more than so many times slower"
    )
    serve = commands.add_parser("mcp", help="serve profiles to an agent, by MCP on stdin and stdout")
    serve.add_argument("root", nargs="?", default=".", metavar="FOLDER", help="what lies below it can be read")
    return parser


def _add_path(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="+", metavar="LOGDIR", help="A logdir (its newest run), a run folder, or files; URLs too."
    )


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is no number of rows")
    return int(text)


def _factor(text: str) -> float:
    factor = float(text)
    if not 0 < factor < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a factor above zero, such as 1.05")
    return factor


def _report(args: argparse.Namespace) -> None:
    profile = _load(args)
    ending = args.output.suffix.lstrip(".") if args.output else "html"
    form = args.format or (ending if ending in _BRIEF else "html")
    target = local_path(args.output or f"report.{form}")
    _say(f"Reading {', '.join(str(file) for file in profile.files)} ...")
    if form == "html":
        profile.to_html(target)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_BRIEF[form](profile, 10), encoding="utf-8")
    _say(f"The report is in {target.absolute()} ({target.stat().st_size / 1e3:.0f} kB).")


def _load(args: argparse.Namespace) -> Profile:
    from tfprof_nb.api.load import load

    return load(args.path if len(args.path) > 1 else args.path[0])


def _overview(args: argparse.Namespace) -> None:
    profile = _load(args)
    _print(str(profile) if args.format == "text" else _BRIEF[args.format](profile, args.rows))


def _page(args: argparse.Namespace) -> None:
    from tfprof_nb.export.markdown import page_to_markdown
    from tfprof_nb.export.pages import page_dict, to_json

    result = getattr(_load(args), args.command)
    if args.format == "text":
        _print(str(result))
    else:
        page = page_dict(args.command, result, args.rows)
        _print(to_json(page) if args.format == "json" else page_to_markdown(page))


def _sql(args: argparse.Namespace) -> None:
    from tfprof_nb.export.markdown import table_to_markdown
    from tfprof_nb.export.pages import table_dict, to_json

    try:
        frame = _load(args).sql(args.query)
    except ValueError as error:
        raise TfprofError(str(error)) from None
    table = table_dict(frame, args.rows)
    if args.format == "text":
        _print(printable(frame.to_string(index=False)))
    else:
        _print(to_json(table) if args.format == "json" else table_to_markdown(table))


def _compare(args: argparse.Namespace) -> None:
    from tfprof_nb.api.compare import compare
    from tfprof_nb.export.markdown import page_to_markdown
    from tfprof_nb.export.pages import page_dict, to_json
    from tfprof_nb.views.compare import answer

    before, after = (_runs(path) if args.all_runs else path for path in (args.before, args.after))
    compared = compare(before, after)
    said = [note.text for note in answer(compared)]
    if args.format == "text":
        _print("\n".join([*said, *compared.notes]))
    else:
        page = page_dict("compare", compared, args.rows)
        page["notes"] = [*said, *page["notes"]]
        _print(to_json(page) if args.format == "json" else page_to_markdown(page))
    if args.max_slowdown is not None:
        _check_slowdown(compared.summary, args.max_slowdown)


def _serve(args: argparse.Namespace) -> None:
    from tfprof_nb.mcp_server import server_of

    server_of(local_path(args.root)).run()


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


def _print(text: str) -> None:
    print(text.rstrip("\n"))  # noqa: T201


_BRIEF: dict[str, Callable[[Profile, int], str]] = {
    "md": lambda profile, rows: profile.to_markdown(rows),
    "json": lambda profile, rows: json.dumps(profile.to_dict(rows), indent=1, ensure_ascii=False) + "\n",
}
_COMMANDS = {
    "report": _report,
    "overview": _overview,
    **dict.fromkeys(_PAGES, _page),
    "sql": _sql,
    "compare": _compare,
    "mcp": _serve,
}

if __name__ == "__main__":
    sys.exit(main())
