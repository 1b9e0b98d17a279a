"""Charts as SVG images, for static HTML: one file per chart, of the same ``elements``."""
