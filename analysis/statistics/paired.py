"""The paired contrasts of a label table: every judge, every contrast, p-values adjusted.

Everything works on anyone's tidy label table: record_id, judge, condition, label.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.design import label_design
from ragmend.analysis.inputs.labels import LabelCube, label_cube
from ragmend.analysis.settings import SIGNIFICANCE_LEVEL, Contrast, Family, Settings
from ragmend.analysis.statistics.label_table import conditions_of
from ragmend.analysis.statistics.multiplicity import holm
from ragmend.analysis.statistics.paired_difference import compare_all
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


class PairedContrast(NamedTuple):
    """One judge's comparison of two conditions: a `PairedDifference`, named and adjusted.

    Rates are proportions; the difference, B minus A, and its intervals are percentage points.
    """

    judge: str
    contrast: str
    family: Family
    n: int
    rate_a: Fraction
    rate_b: Fraction
    b: int
    c: int
    diff_pp: Fraction
    ci_low: float
    ci_high: float
    ci_exact_low: float
    ci_exact_high: float
    ci_cluster_low: float | None
    ci_cluster_high: float | None
    ci_tango_low: float
    ci_tango_high: float
    p_exact: float
    log10_p: float
    p_holm: float | None
    """Adjusted within the judge's primary contrasts; None outside them."""
    p_holm_all: float | None
    """Adjusted within the primary contrasts of all judges; None outside them."""
    deff: float | None

    @property
    def p_decisive(self) -> float:
        """Return the p that verdicts go by: Holm's of a primary contrast, else the exact one."""
        return self.p_exact if self.p_holm is None else self.p_holm

    @property
    def is_significant(self) -> bool:
        """Return whether the decisive p is below the level."""
        return self.p_decisive < SIGNIFICANCE_LEVEL


class PairedLabels(NamedTuple):
    """The labels of every judge's contrasts side by side, judges outermost."""

    judges_S: list[str]  # noqa: N815
    contrasts_S: list[Contrast]  # noqa: N815
    a_RS: NDArray[np.int64]  # noqa: N815
    b_RS: NDArray[np.int64]  # noqa: N815


def compare_conditions(
    cube: LabelCube, contrasts: Sequence[Contrast], *, settings: Settings
) -> list[PairedContrast]:
    """Compare conditions within each judge, rates kept as exact fractions.

    All differences are taken on one draw of records and one of sources.

    Returns:
        One comparison a judge and contrast, judges in the cube's order.

    Raises:
        StatisticsError: A contrast names a condition that the cube lacks.
    """
    if not contrasts:
        return []
    pairs = pair_labels(cube, contrasts)
    sources_R = None if cube.sources_R is None else np.asarray(cube.sources_R)
    rows = [
        PairedContrast(
            judge=judge,
            contrast=contrast.name,
            family=contrast.family,
            p_holm=None,
            p_holm_all=None,
            **difference._asdict(),
        )
        for judge, contrast, difference in zip(
            pairs.judges_S,
            pairs.contrasts_S,
            compare_all(pairs.a_RS, pairs.b_RS, sources_R=sources_R, settings=settings),
            strict=True,
        )
    ]
    return _adjusted(rows, cube.judges)


def pair_labels(cube: LabelCube, contrasts: Sequence[Contrast]) -> PairedLabels:
    """Return the labels of both conditions of every judge's contrasts.

    Raises:
        StatisticsError: A contrast names a condition that the cube lacks.
    """
    place = {condition: i for i, condition in enumerate(cube.conditions)}
    for contrast in contrasts:
        for condition in (contrast.a, contrast.b):
            if condition not in place:
                raise StatisticsError(
                    f"contrast {contrast.name}: no labels in condition {condition}, "
                    f"only in {', '.join(cube.conditions)}"
                )
    a_RJK = cube.labels_RJC[:, :, [place[contrast.a] for contrast in contrasts]]
    b_RJK = cube.labels_RJC[:, :, [place[contrast.b] for contrast in contrasts]]
    return PairedLabels(
        judges_S=[judge for judge in cube.judges for _ in contrasts],
        contrasts_S=[contrast for _ in cube.judges for contrast in contrasts],
        a_RS=a_RJK.reshape(len(a_RJK), -1),
        b_RS=b_RJK.reshape(len(b_RJK), -1),
    )


def paired_contrasts(labels: pd.DataFrame, *, settings: Settings | None = None) -> pd.DataFrame:
    """Compare conditions on a tidy label table.

    Args:
        labels: Columns record_id, judge, condition, label (0/1), and perhaps source_id, task,
            gold and empty; every record labelled by every judge in every condition.
        settings: Contrasts, conditions and bootstrap; None: the paper's.

    Returns:
        The columns of `PairedContrast` as floats, one row a judge (by name) and contrast; what
        is undefined is NaN.

    Raises:
        StatisticsError: The table is incomplete, has duplicates or labels other than 0/1, or
            nothing in it can be compared.
    """
    import pandas as pd

    settings = settings or Settings()
    design = label_design(conditions_of(labels), settings)
    if not design.contrasts:
        raise StatisticsError(f"{design.reason}; name a reference or a family")
    cube = label_cube(labels, conditions=design.conditions, incomplete=settings.incomplete)
    frame = pd.DataFrame(
        compare_conditions(cube, design.contrasts, settings=settings),
        columns=list(PairedContrast._fields),
    )
    as_they_are = ("judge", "contrast", "family", "n", "b", "c")
    return frame.astype({name: float for name in frame if name not in as_they_are})


def _adjusted(rows: Sequence[PairedContrast], judges: Sequence[str]) -> list[PairedContrast]:
    """Add Holm's p-values of primary contrasts: within each judge, and over all of them."""
    primary = [row for row in rows if row.family == "primary"]
    within = {
        judge: holm({row.contrast: row.p_exact for row in primary if row.judge == judge})
        for judge in judges
    }
    over_all = holm({f"{row.contrast!r} of {row.judge!r}": row.p_exact for row in primary})
    return [
        row._replace(
            p_holm=within[row.judge].get(row.contrast),
            p_holm_all=over_all.get(f"{row.contrast!r} of {row.judge!r}"),
        )
        if row.family == "primary"
        else row
        for row in rows
    ]
