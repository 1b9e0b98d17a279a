"""Results to panels: what each feature shows, one file per feature.

In: results of analyses. Out: lists of panels. No arithmetic beyond formatting, no drawing.
"""
