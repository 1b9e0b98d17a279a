"""``rules``: the rules of advice, as a table."""

import pandas as pd

from tfprof_nb.analysis.advice import catalogue


def rules() -> pd.DataFrame:
    """Return the rules of advice: what a profile is searched for.

    Returns
    -------
    DataFrame
        A row per rule. ``rule`` is its id, as in ``p.advice.table``, ``title`` the fault in a few words, and ``what``
        and ``why`` what it looks for and what that costs. ``group`` is the part of a program that it is about, and
        ``page`` the result that shows its evidence.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> rules = tp.rules()
    >>> rules.loc[rules["rule"] == "no-prefetch", "title"].item()
    'The pipeline has no prefetch'
    """
    rows = [(rule.id, rule.title, rule.group, rule.page, rule.what, rule.why) for rule in catalogue.rules().values()]
    return pd.DataFrame(rows, columns=["rule", "title", "group", "page", "what", "why"])
