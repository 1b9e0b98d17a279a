"""What writers and readers agree on: `capture` writes by these names, `decode` and `analysis` read by them.

===========  ==========================================================================================
`files`      names of files and folders on disk
`marks`      events that a capture adds to a profile, and what it writes on them
`protobuf`   messages of protobuf that no installed package has classes for
`sidecar`    the sections of the file beside a profile
`xspace`     names that TensorFlow's profiler writes into its files
===========  ==========================================================================================
"""
