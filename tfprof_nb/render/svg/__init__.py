"""Charts as SVG images, for static HTML: one file per chart, drawn into the same ``picture``."""
