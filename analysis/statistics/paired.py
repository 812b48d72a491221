"""Paired comparisons of conditions on the same records: McNemar, Holm, bootstrap.

Everything works on anyone's tidy label table: record_id, judge, condition, label.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.design import label_design
from ragmend.analysis.inputs.labels import LabelCube, label_cube
from ragmend.analysis.settings import Contrast, Family, Settings
from ragmend.analysis.statistics.intervals import Interval, bootstrap_means, percentile_interval
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd


class McNemar(NamedTuple):
    """An exact p-value; `log10_p` stays finite where `p` is too small for a float."""

    p: float
    log10_p: float


class PairedContrast(NamedTuple):
    """One judge's comparison of two conditions.

    Rates are proportions; the difference, B minus A, and its interval are percentage points.
    """

    judge: str
    contrast: str
    family: Family
    n: int
    rate_a: Fraction
    rate_b: Fraction
    b: int
    """Records labelled 1 in A and 0 in B."""
    c: int
    """Records labelled 0 in A and 1 in B."""
    diff_pp: Fraction
    ci_low: float
    ci_high: float
    p_exact: float
    log10_p: float
    p_holm: float | None
    """Adjusted within the judge's primary contrasts; None outside them."""


def exact_mcnemar(b: int, c: int) -> McNemar:
    """Test whether two conditions differ, from the discordant pairs alone.

    Two-sided: twice the smaller binomial tail at one half, at most 1, summed in log space.
    Without a discordant pair nothing speaks for a difference, and p is 1.

    Args:
        b: Records labelled 1, then 0.
        c: Records labelled 0, then 1.

    Raises:
        StatisticsError: A count is negative.

    Source: McNemar 1947, Psychometrika 12, 153-157, with the exact binomial tail.
    """
    from scipy.special import gammaln, logsumexp

    if b < 0 or c < 0:
        raise StatisticsError(f"discordant pairs are counts, got b = {b} and c = {c}")
    n = b + c
    k = np.arange(min(b, c) + 1)
    log_tail = logsumexp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
    log_p = min(0.0, float(log_tail) + (1 - n) * math.log(2))
    return McNemar(math.exp(log_p), log_p / math.log(10))


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


def compare_conditions(
    cube: LabelCube, contrasts: Sequence[Contrast], *, settings: Settings
) -> list[PairedContrast]:
    """Compare conditions within each judge, rates kept as exact fractions.

    Returns:
        One comparison a judge and contrast, judges in the cube's order.

    Raises:
        StatisticsError: A contrast names a condition that the cube lacks.
    """
    for contrast in contrasts:
        for condition in sorted({contrast.a, contrast.b} - set(cube.conditions)):
            raise StatisticsError(
                f"contrast {contrast.name}: no labels in condition {condition}, "
                f"only in {', '.join(cube.conditions)}"
            )
    intervals = _difference_intervals(cube, contrasts, settings)
    return [
        row
        for judge in range(len(cube.judges))
        for row in _compare_within_judge(cube, judge, intervals[judge], contrasts)
    ]


def paired_contrasts(labels: pd.DataFrame, *, settings: Settings | None = None) -> pd.DataFrame:
    """Compare conditions on a tidy label table.

    Args:
        labels: Columns record_id, judge, condition, label (0/1); every record labelled by
            every judge in every condition.
        settings: Contrasts, conditions and bootstrap; None: the paper's.

    Returns:
        The columns of `PairedContrast` as floats, one row a judge (by name) and contrast.

    Raises:
        StatisticsError: The table is incomplete, has duplicates or labels other than 0/1.
    """
    import pandas as pd

    settings = settings or Settings()
    design = label_design(labels["condition"].dropna().astype(str).unique(), settings)
    cube = label_cube(labels, conditions=design.conditions)
    frame = pd.DataFrame(
        compare_conditions(cube, design.contrasts, settings=settings),
        columns=list(PairedContrast._fields),
    )
    exact = ["rate_a", "rate_b", "diff_pp", "p_holm"]
    return frame.astype(dict.fromkeys(exact, float))


def _difference_intervals(
    cube: LabelCube, contrasts: Sequence[Contrast], settings: Settings
) -> list[list[Interval]]:
    """Bootstrap all differences on the same resamples; judges × contrasts, in points."""
    index = {condition: i for i, condition in enumerate(cube.conditions)}
    a = [index[contrast.a] for contrast in contrasts]
    b = [index[contrast.b] for contrast in contrasts]
    differences_RJK = cube.labels_RJC[:, :, b] - cube.labels_RJC[:, :, a]
    n_records, n_judges, n_contrasts = differences_RJK.shape
    means_BS = bootstrap_means(
        differences_RJK.reshape(n_records, n_judges * n_contrasts),
        n_resamples=settings.n_resamples,
        seed=settings.seed,
    )
    intervals = [
        percentile_interval(100 * means_B, confidence=settings.confidence) for means_B in means_BS.T
    ]
    return [intervals[j * n_contrasts : (j + 1) * n_contrasts] for j in range(n_judges)]


def _compare_within_judge(
    cube: LabelCube, judge: int, intervals: list[Interval], contrasts: Sequence[Contrast]
) -> list[PairedContrast]:
    labels = {
        condition: cube.labels_RJC[:, judge, i] for i, condition in enumerate(cube.conditions)
    }
    rows = [
        _compare(cube.judges[judge], contrast, labels[contrast.a], labels[contrast.b], interval)
        for contrast, interval in zip(contrasts, intervals, strict=True)
    ]
    adjusted = holm({row.contrast: row.p_exact for row in rows if row.family == "primary"})
    return [row._replace(p_holm=adjusted.get(row.contrast)) for row in rows]


def _compare(
    judge: str,
    contrast: Contrast,
    labels_a_R: np.ndarray,
    labels_b_R: np.ndarray,
    interval: Interval,
) -> PairedContrast:
    n, n_a, n_b = len(labels_a_R), int(labels_a_R.sum()), int(labels_b_R.sum())
    b = int((labels_a_R > labels_b_R).sum())
    c = int((labels_a_R < labels_b_R).sum())
    test = exact_mcnemar(b, c)
    return PairedContrast(
        judge=judge,
        contrast=contrast.name,
        family=contrast.family,
        n=n,
        rate_a=Fraction(n_a, n),
        rate_b=Fraction(n_b, n),
        b=b,
        c=c,
        diff_pp=Fraction(100 * (n_b - n_a), n),
        ci_low=interval.low,
        ci_high=interval.high,
        p_exact=test.p,
        log10_p=test.log10_p,
        p_holm=None,
    )
