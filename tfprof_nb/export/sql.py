"""SQL over frames, for ``Profile.sql``. Only the tables that a query names are computed."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

Frames = Mapping[str, Callable[[], pd.DataFrame]]


def run_sql(query: str, frames: Frames) -> pd.DataFrame:
    """Return the rows of a query. The tables are frames by name; their named indexes are columns too.

    The query can read only these tables: no file, no network.

    Raises
    ------
    ValueError
        If the query is wrong, or names an unknown table.
    """
    import duckdb

    with duckdb.connect(config={"enable_external_access": "false"}) as database:
        try:
            named = {name.lower() for name in database.get_table_names(query)}
            for name in sorted(named & set(frames)):
                database.register(name, with_index(frames[name]()))
            database.execute(query)
            return _whole_numbers(database.df(), database.description)
        except duckdb.CatalogException as error:
            raise ValueError(f"{error}\nThe tables are: {', '.join(frames)}.") from None
        except duckdb.Error as error:
            raise ValueError(str(error)) from None


def with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn named indexes into columns."""
    levels = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return frame.reset_index(level=levels) if levels else frame


def _whole_numbers(frame: pd.DataFrame, description: Any) -> pd.DataFrame:
    """Convert sums of integers back to integers: DuckDB's type for them becomes float in a frame."""
    sums = [name for name, kind, *_ in description if str(kind) == "HUGEINT"]
    whole = {name: "int64" for name in sums if not frame[name].isna().any() and frame[name].abs().max() < 2**53}
    return frame.astype(whole)
