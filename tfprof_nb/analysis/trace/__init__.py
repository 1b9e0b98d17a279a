"""The trace: events on tracks, in the form that the viewer draws. ``trace`` is the result.

==================  ==================================================================================================
the picture         ``layout`` (tracks and their lanes), ``slices`` (events, merged if too small to see, as columns for
                    the browser), ``device_lines`` (tracks made of kernels), ``counters``
its events          ``event_names`` (events of an op, lines of code), ``flows`` (causes and effects), ``totals``
==================  ==================================================================================================
"""
