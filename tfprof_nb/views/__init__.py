"""From results to panels: what each feature shows, one file per feature.

In: results of analyses. Out: lists of panels. Views format, but neither calculate nor draw.
"""
