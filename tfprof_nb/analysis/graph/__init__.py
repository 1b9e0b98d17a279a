"""The graph that ran, as tfprof's four views: ``graph`` is the result.

==================  ==================================================================================================
a ``model``         from a session's described graph and its runs (``from_session``), or from the functions and the
                    events of other programs (``from_events``)
a view              ``trees`` builds the four trees, ``selection`` chooses and orders their rows, by ``options``
numbers             ``estimate`` (another device), ``checkers`` (tfprof's advice)
==================  ==================================================================================================
"""
