"""Adjusting the p-values of a family of tests."""

from __future__ import annotations

from collections.abc import Mapping

from ragmend.errors import StatisticsError


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust the p-values of one family by Holm's step-down procedure.

    Args:
        p_values: p-value of each contrast, in [0, 1].

    Raises:
        StatisticsError: A p-value is NaN or out of range; the contrast is named.

    Source: Holm 1979, Scandinavian Journal of Statistics 6(2), 65-70.
    """
    from statsmodels.stats.multitest import multipletests

    for name, p in p_values.items():
        if not 0 <= p <= 1:
            raise StatisticsError(f"contrast {name}: Holm needs a p-value in [0, 1], got {p}")
    if not p_values:
        return {}
    _, adjusted, _, _ = multipletests(list(p_values.values()), method="holm")
    return dict(zip(p_values, map(float, adjusted), strict=True))
