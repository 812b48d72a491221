"""What holds for every judge at once, and whether one judge's rates differ at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ragmend.analysis.settings import Family
from ragmend.analysis.statistics.checks import check_matrix, check_number
from ragmend.analysis.statistics.mcnemar import McNemar, exact_mcnemar
from ragmend.analysis.statistics.multiplicity import holm
from ragmend.analysis.statistics.paired import PairedContrast
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Direction = Literal["fewer in B", "more in B", "mixed", "none"]


class JointTest(NamedTuple):
    """Whether all judges find a difference in one direction; p is None where they do not."""

    direction: Direction
    p: float | None


class AcrossJudges(NamedTuple):
    """One contrast over all judges."""

    contrast: str
    family: Family
    judges: int
    direction: Direction
    p_max: float | None
    """The largest p-value of any judge; None unless all differences have one strict sign."""
    log10_p_max: float | None
    p_max_holm: float | None
    """Adjusted within the primary contrasts; None outside them and where p_max is."""
    significant: int | None
    """Judges with p < 5 % after their own Holm adjustment; None outside the family."""
    not_significant: str | None
    """The other judges' names."""


class CochranQ(NamedTuple):
    """Cochran's Q; None where no record's label differs between conditions."""

    q: float | None
    df: int
    p: float | None
    log10_p: float | None
    n_varying: int
    """Records whose labels differ: the only ones that count."""
    p_is_exact: bool
    """Whether p is that of McNemar's exact test, and not that of Q's chi-square."""

    @property
    def is_sparse(self) -> bool:
        """Return whether too few records vary for the chi-square distribution to hold."""
        is_small = self.n_varying < 4 or self.n_varying * (self.df + 1) < 24
        return self.p is not None and not self.p_is_exact and is_small


def intersection_union(
    p_values: Mapping[str, float], differences: Mapping[str, float]
) -> JointTest:
    """Test whether every judge finds a difference, and all in the same direction.

    "All judges agree" is shown at a level when each judge alone shows it at that level: the
    p-value is the largest. No adjustment for the number of judges is needed, for all must pass.

    Args:
        p_values: Two-sided p-value of each judge.
        differences: Difference B − A of the same judges.

    Raises:
        StatisticsError: There is no judge, the judges differ, a p-value is not in [0, 1] or a
            difference is not finite.

    Source: Berger 1982, Technometrics 24(4), 295-300.
    """
    for name, values in {"p_values": p_values, "differences": differences}.items():
        if not isinstance(values, Mapping):
            raise StatisticsError(f"{name}: expected a number by judge, got {values!r}")
    if not p_values or set(p_values) != set(differences):
        raise StatisticsError(
            "p_values and differences: a test across judges needs one of each a judge"
        )
    p_J = [check_number(p, f"p_values, judge {j}", least=0, most=1) for j, p in p_values.items()]
    found_J = [check_number(value, f"differences, judge {j}") for j, value in differences.items()]
    direction = _direction(found_J)
    agrees = direction in ("fewer in B", "more in B")
    return JointTest(direction, max(p_J) if agrees else None)


def across_judges(contrasts: Sequence[PairedContrast]) -> list[AcrossJudges]:
    """Ask of every contrast whether it holds for all judges, one answer a contrast.

    The joint p-values of the primary contrasts are one Holm family; a contrast on which the
    judges do not agree stays in it as p = 1, so that its size is the number of contrasts.

    Args:
        contrasts: Every judge's comparison of every contrast.

    Raises:
        StatisticsError: An item is no comparison.

    Source: Berger 1982, Technometrics 24(4), 295-300; Holm 1979, Scandinavian Journal of
        Statistics 6(2), 65-70.
    """
    if not isinstance(contrasts, Sequence) or not all(
        isinstance(row, PairedContrast) for row in contrasts
    ):
        raise StatisticsError("contrasts: expected a sequence of PairedContrast")
    found = [
        _across([row for row in contrasts if row.contrast == name])
        for name in dict.fromkeys(row.contrast for row in contrasts)
    ]
    adjusted = holm(
        {
            row.contrast: 1.0 if row.p_max is None else row.p_max
            for row in found
            if row.family == "primary"
        }
    )
    return [
        row if row.p_max is None else row._replace(p_max_holm=adjusted.get(row.contrast))
        for row in found
    ]


def cochran_q(labels_RC: ArrayLike) -> CochranQ:
    """Test whether the rates of several conditions on the same records are all equal.

    With T_c the hallucinated answers of condition c and U_r those of record r,
    Q = (C − 1)(C ΣT_c² − (ΣT_c)²) / (C ΣU_r − ΣU_r²), chi-square with C − 1 degrees of freedom.
    Only records whose labels differ count; without any, there is nothing to test. With two
    conditions Q is McNemar's chi-square, and p is that of his exact test instead.

    Args:
        labels_RC: 0 or 1, records × conditions.

    Raises:
        StatisticsError: There are fewer than two conditions or no record, or a label is
            neither 0 nor 1.

    Source: Cochran 1950, Biometrika 37(3/4), 256-266; Tate and Brown 1970, JASA 65(329),
        155-160 (chi-square holds where at least 4 records vary, and their number times C is at
        least 24).
    """
    from statsmodels.stats.contingency_tables import cochrans_q

    labels = check_matrix(labels_RC, "labels_RC", kind="label", least_columns=2).astype(np.int64)
    df = labels.shape[1] - 1
    n_varying = int((labels != labels[:, :1]).any(axis=1).sum())
    if not n_varying:
        return CochranQ(None, df, None, None, 0, False)
    q = float(cochrans_q(labels).statistic)
    if df == 1:
        change_R = labels[:, 1] - labels[:, 0]
        test = exact_mcnemar(int((change_R < 0).sum()), int((change_R > 0).sum()))
    else:
        test = _chi_square(q, df)
    return CochranQ(q, df, test.p, test.log10_p, n_varying, df == 1)


def _direction(differences: Sequence[float]) -> Direction:
    if all(difference < 0 for difference in differences):
        return "fewer in B"
    if all(difference > 0 for difference in differences):
        return "more in B"
    return "mixed" if any(differences) else "none"


def _chi_square(q: float, df: int) -> McNemar:
    log_p = _log_upper_tail(q, df)
    return McNemar(math.exp(log_p), log_p / math.log(10))


def _log_upper_tail(q: float, df: int) -> float:
    """Return ln P(χ² > q) by the finite sum for whole df; scipy's is −∞ from q ≈ 1,500 on.

    Source: Abramowitz and Stegun 1964, Handbook of Mathematical Functions, 26.4.4 and 26.4.5.
    """
    from scipy.special import gammaln, log_ndtr, logsumexp

    if q <= 0:
        return 0.0
    half, is_odd = q / 2, df % 2
    first = [math.log(2) + log_ndtr(-math.sqrt(q))] if is_odd else []
    powers = np.arange(df // 2) + (0.5 if is_odd else 0.0)
    return float(logsumexp([*first, *(powers * math.log(half) - half - gammaln(powers + 1))]))


def _across(rows: Sequence[PairedContrast]) -> AcrossJudges:
    test = intersection_union(
        {row.judge: row.p_exact for row in rows}, {row.judge: float(row.diff_pp) for row in rows}
    )
    is_primary = rows[0].family == "primary"
    missed = [row.judge for row in rows if is_primary and not row.is_significant]
    return AcrossJudges(
        contrast=rows[0].contrast,
        family=rows[0].family,
        judges=len(rows),
        direction=test.direction,
        p_max=test.p,
        log10_p_max=None if test.p is None else max(row.log10_p for row in rows),
        p_max_holm=None,
        significant=len(rows) - len(missed) if is_primary else None,
        not_significant=(", ".join(missed) or "none") if is_primary else None,
    )
