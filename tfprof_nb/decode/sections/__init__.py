"""Parse the sections of a sidecar (``docs/sidecar.md``), one file per section.

A parser gets the section as JSON gives it, or None where the sidecar lacks it. It raises what its operations raise if
the section is damaged: `decode.sidecar.Sidecar.read` catches that.
"""
