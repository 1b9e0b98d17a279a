"""What all analyses build on: every host's events in columns, how they nest and link, and what their names mean.

==================  ==================================================================================================
events              ``forest`` holds a host's events and computes from them on demand; ``p.events``
time                ``nesting`` (parents, self time), ``intervals`` (unions, priorities), ``links`` (causes, effects)
names               ``names`` (op names and categories), ``op_labels`` (an event's op), ``eager`` (what ran eagerly)
graphs              ``graph_nodes`` (an event's node), ``tensors`` (shapes)
machines            ``devices``
==================  ==================================================================================================
"""
