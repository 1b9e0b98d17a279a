"""Charts as SVG images, for static HTML: a file per chart, all of which draw into a ``picture``."""
