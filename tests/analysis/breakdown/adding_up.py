"""What holds of every tree."""

import pytest

SAMPLED_MS = 50  # a shorter cell may end before Python is sampled


def adds_up(result):
    table = result.table
    assert table["id"].is_unique
    assert table["id"].iloc[0] == "cell"
    assert set(table["parent"].iloc[1:]) <= set(table["id"])
    assert table["share"].between(0, 1 + 1e-9).all()
    assert (table[["total_ms", "self_ms"]] >= 0).all(axis=None)
    parts = table.groupby("parent")["total_ms"].sum().reindex(table["id"], fill_value=0).to_numpy()
    assert parts + table["self_ms"].to_numpy() == pytest.approx(table["total_ms"].to_numpy(), abs=1e-3)
    assert 0 <= result.summary["unexplained_share"] <= 1
