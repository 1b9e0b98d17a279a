"""What follows a capture: the profile is shown, and the notebook's oldest ones are removed."""

import argparse
import gc
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tfprof_nb._units import size
from tfprof_nb.api.session import Capture
from tfprof_nb.capture.run_folder import describe_run, keep_newest, logdir_of, shown_path
from tfprof_nb.notebook.live import Live
from tfprof_nb.profiles import Profile
from tfprof_nb.results import run_folder, run_folders_in_use
from tfprof_nb.storage import is_url
from tfprof_nb.views import dashboard
from tfprof_nb.views.headline import headline


def saved(capture: Capture, args: argparse.Namespace) -> str:
    """Remove the notebook's oldest profiles, and say where this one is and how large all are."""
    if not capture.finished or is_url(args.logdir or ""):
        return ""
    try:
        run = run_folder(capture.profile)
        kept = keep_newest(run, args.keep, run_folders_in_use())
    except OSError as error:  # the folder belongs to somebody else
        return f"The folder of the profile cannot be listed: {error.strerror or error}."
    opens = f"%tfprofile_load {shlex.quote(str(shown_path(run)))}"
    others = f"; its {kept.runs} profiles take {size(kept.all_bytes)}" if kept.runs > 1 else ""
    stay = f"Of this notebook's profiles the newest {args.keep} stay (`--keep {args.keep}`)."
    return f"Saved in `{logdir_of(run)}`: {size(kept.run_bytes)}{others}. {stay} `{opens}` opens this one again."


def show(result: Profile, views: list[str] | None, live: Live | None, saved: str, *, static: bool) -> None:
    """Show the profile, in the place of its live line; if that fails, say why, and where the profile's files are."""
    try:
        with _no_collection():
            content = dashboard.content(result, views, static=static, saved=saved)
            content.show(live.end() if live else None)
        verdict = headline(result.overview).partition(":")[0]
        describe_run(run_folder(result), verdict, result.steps.summary["steps"])
    except Exception as error:  # noqa: BLE001  (the cell's own result must not suffer)
        files = ", ".join(str(file) for file in result.files)
        reason = f"{type(error).__name__}: {error}"
        print(f"The profile cannot be shown ({reason}). It is saved in {files}.", file=sys.stderr)  # noqa: T201


@contextmanager
def _no_collection() -> Iterator[None]:
    """Put off the collection of garbage: among TensorFlow's objects it takes a fifth of a second, just when we read."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
