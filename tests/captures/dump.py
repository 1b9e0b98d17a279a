"""Write what the advice says of all captures: ``python tests/captures/dump.py FILE.json [NAME ...]``.

Two such files, from before and after a change of the rules, show what the change does.
"""

import json
import os
import sys
import tempfile
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
os.environ["TFPROF_NB_CACHE"] = "off"

import tfprof_nb as tp  # noqa: E402
from captures import archive, sources  # noqa: E402


def said(name):
    """Return what is said of a capture."""
    with tempfile.TemporaryDirectory() as folder:
        profile = tp.load(archive.read(name, folder), name=name)
        table = profile.advice.table
        return name, {
            "verdict": profile.overview.summary["verdict"],
            "advice": json.loads(table.to_json(orient="records", double_precision=6)),
            "notes": profile.advice.notes,
        }


def main():
    """Write the file that the command line names."""
    target, *names = sys.argv[1:]
    wanted = [name for name in sources.names() if not names or {name, name.partition("/")[0]} & {*names}]
    recorded = [name for name in wanted if archive.file_of(name).is_file()]
    with Pool(2) as pool:
        found = dict(pool.imap(said, recorded))
    Path(target).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(found)} captures; not recorded: {len(wanted) - len(recorded)}")


if __name__ == "__main__":
    main()
