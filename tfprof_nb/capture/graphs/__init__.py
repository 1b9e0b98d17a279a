"""The section ``graphs`` of the sidecar: the functions that ran, with their nodes, lines, shapes and Keras layers.

`collector` notes the functions while the capture records; `section` describes them afterwards, from `function_nodes`,
`signature`, `source_lines` and `keras_layers`.
"""

from tfprof_nb.capture.graphs.collector import graphs

__all__ = ["graphs"]
