"""From a profile to its dashboard: the analyses, the static form, the text and the widgets, without the browser.

    python -m benchmarks.dashboard [--millions 0.1 1] [--repeats 3]

What a notebook does for the first display of `tp.load(path)`, cold but for imports and reading the events: until the
widget is there; until the static form holds all pages, which follows while the reader reads; and this once every
result is there.
"""

from __future__ import annotations

import argparse

from benchmarks.fresh import Contender, compare
from benchmarks.recorded import recorded

_GLANCE = "v = p.dashboard(); g = first_pages(v._panels); told = len(static_view('', g) + text_view('', g)); v._build()"
_WHOLE = "v = p.dashboard(); v._build(); v._panels = opened(v._panels); told = len(v.to_html()); str(v)"
_IMPORTS = (
    "import pandas, tfprof_nb as tp, tfprof_nb.profiles, tfprof_nb.render.view; p = tp.load(path); "
    "from tfprof_nb.render.static_form import first_pages, opened, static_view; "
    "from tfprof_nb.render.text import text_view"
)
CONTENDERS = {
    "until it is shown": Contender(_IMPORTS, _GLANCE),
    "with all pages": Contender(_IMPORTS, _WHOLE),
    "with all pages, again": Contender(_IMPORTS + "; str(p.dashboard())", _WHOLE),
}


def main() -> None:
    """Measure both on all sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("goal: shown within 0.5 s at 0.1 million events")
    for millions in options.millions:
        for name, measured in compare(recorded(millions), CONTENDERS, options.repeats).items():
            static = f"static form {measured.told / 1e3:.0f} kB"
            print(f"{millions:g} million events, {name:<24}{measured.work_s:7.2f} s   {static}")


if __name__ == "__main__":
    main()
