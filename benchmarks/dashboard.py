"""From a profile to its dashboard: all analyses, the static form, the text and the widgets, without the browser.

    python -m benchmarks.dashboard [--millions 0.1 1] [--repeats 3]

What a notebook does for the first display of `tp.load(path)`, cold but for imports and reading the events; then the
dashboard alone, once every result is there.
"""

from __future__ import annotations

import argparse

from benchmarks.fresh import Contender, compare
from benchmarks.recorded import recorded

_IMPORTS = "import pandas, tfprof_nb as tp, tfprof_nb.profiles, tfprof_nb.render.view; p = tp.load(path)"
_SHOW = "v = p.dashboard(); told = len(v.to_html()); str(v); v._build()"
CONTENDERS = {
    "with all analyses": Contender(_IMPORTS, _SHOW),
    "the dashboard alone": Contender(_IMPORTS + "; str(p)", _SHOW),
}


def main() -> None:
    """Measure both on all sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("goal: 0.5 s at 0.1 million events")
    for millions in options.millions:
        for name, measured in compare(recorded(millions), CONTENDERS, options.repeats).items():
            static = f"static form {measured.told / 1e3:.0f} kB"
            print(f"{millions:g} million events, {name:<20}{measured.work_s:7.2f} s   {static}")


if __name__ == "__main__":
    main()
