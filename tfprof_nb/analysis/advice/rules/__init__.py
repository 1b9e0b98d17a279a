"""The rules, a module each: ``RULE`` says what it is, ``check`` looks for cases. `advice.catalogue` finds them here.

Modules whose names begin with an underscore have what several rules of a folder share.
"""
