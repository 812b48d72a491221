"""Adjusting the p-values of a family of tests."""

from __future__ import annotations

from collections.abc import Mapping

from ragmend.analysis.statistics.checks import check_number
from ragmend.errors import StatisticsError


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust the p-values of one family by Holm's step-down procedure.

    Args:
        p_values: p-value of each contrast, in [0, 1].

    Raises:
        StatisticsError: A p-value is none or out of range; the contrast is named.

    Source: Holm 1979, Scandinavian Journal of Statistics 6(2), 65-70.
    """
    from statsmodels.stats.multitest import multipletests

    if not isinstance(p_values, Mapping):
        raise StatisticsError(f"p_values: expected a p-value by contrast, got {p_values!r}")
    found = [
        check_number(p, f"p_values, contrast {name}", least=0, most=1)
        for name, p in p_values.items()
    ]
    if not found:
        return {}
    _, adjusted, _, _ = multipletests(found, method="holm")
    return dict(zip(p_values, map(float, adjusted), strict=True))
