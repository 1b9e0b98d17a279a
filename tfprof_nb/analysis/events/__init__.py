"""What all analyses stand on: every host's events in columns, how they nest and link, and what their names mean.

==================  ==================================================================================================
the events          ``forest`` holds a host's events and computes from them on demand, ``table`` is ``p.events``
order in time       ``nesting`` (parents, self time), ``intervals`` (unions, priorities), ``links`` (causes, effects)
names               ``names`` (op names and categories), ``op_labels`` (the op of an event), ``eager``, ``graph_nodes``
machines            ``devices``
==================  ==================================================================================================
"""
