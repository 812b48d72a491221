"""The agreement of all judges of a label table with each other and with gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.design import label_design
from ragmend.analysis.inputs.labels import ALL, GOLD, LabelCube, keep_records, label_cube
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.agreement import PairAgreement, agreement_of
from ragmend.analysis.statistics.alpha import Alpha, krippendorff_alphas
from ragmend.analysis.statistics.label_table import conditions_of
from ragmend.analysis.statistics.rater_labels import count_pairs, source_members
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


class AgreementRow(NamedTuple):
    """How well two raters agree in one condition, or, of raters `all`, all judges' α.

    What does not apply or is undefined is None; `reason` says why it is undefined.
    """

    rater_a: str
    rater_b: str
    condition: str
    n: int
    kappa: float | None = None
    kappa_low: float | None = None
    kappa_high: float | None = None
    kappa_max: float | None = None
    ac1: float | None = None
    ac1_low: float | None = None
    ac1_high: float | None = None
    pabak: float | None = None
    agree_pos: float | None = None
    agree_neg: float | None = None
    alpha: float | None = None
    alpha_low: float | None = None
    alpha_high: float | None = None
    kappa_of_max: float | None = None
    reason: str | None = None


def agreement_rows(
    cube: LabelCube, reference: str | None, settings: Settings
) -> list[AgreementRow]:
    """Measure the agreement of every two raters in every condition.

    Gold is a rater in the reference condition only, on the records whose gold is known. With
    two judges or more a last row of each condition, of raters `all`, holds Krippendorff's α.

    Args:
        cube: The labels; where sources are known, intervals are by source.
        reference: The condition that gold is about; None: unknown, no rater is gold.
        settings: Confidence level and bootstrap.

    Returns:
        Rows by condition; no row with fewer than two raters.
    """
    alphas = _alphas(cube, settings)
    rows = []
    for c, condition in enumerate(cube.conditions):
        rows += _rows_of_judges(cube, c, settings)
        if condition == reference:
            rows += _rows_of_gold(cube, c, settings)
        if alphas:
            rows.append(_row_of_all(cube, condition, alphas[c]))
    return rows


def agreement_table(labels: pd.DataFrame, *, settings: Settings | None = None) -> pd.DataFrame:
    """Measure the agreement of judges on a tidy label table.

    Args:
        labels: Columns record_id, judge, condition, label (0/1), and perhaps gold (0/1 or
            missing) and source_id, each the same in all rows of a record.
        settings: Conditions, reference, confidence and bootstrap; None: the paper's.

    Returns:
        The columns of `AgreementRow`, as `agreement_rows` orders them.

    Raises:
        StatisticsError: The table is incomplete, has duplicates or labels other than 0/1, or
            there are fewer than two raters.
    """
    import pandas as pd

    settings = settings or Settings()
    design = label_design(conditions_of(labels), settings)
    cube = label_cube(labels, conditions=design.conditions, incomplete=settings.incomplete)
    rows = agreement_rows(cube, design.reference, settings)
    if not rows:
        raise StatisticsError("agreement needs at least two raters: two judges, or one and gold")
    frame = pd.DataFrame(rows, columns=list(AgreementRow._fields))
    names = ["rater_a", "rater_b", "condition", "n", "reason"]
    return frame.astype(dict.fromkeys(frame.columns.difference(names), float))


def _rows_of_judges(cube: LabelCube, condition: int, settings: Settings) -> list[AgreementRow]:
    members_GR = _members(cube)
    rows = []
    for j in range(len(cube.judges) - 1):
        labels_RK = cube.labels_RJC[:, j:, condition]
        rows += _compare(
            cube.judges[j:], labels_RK, members_GR, cube.conditions[condition], settings
        )
    return rows


def _rows_of_gold(cube: LabelCube, condition: int, settings: Settings) -> list[AgreementRow]:
    is_known_R = cube.gold_R >= 0
    if not is_known_R.any():
        return []
    known = keep_records(cube, is_known_R)
    labels_RK = np.column_stack([known.gold_R, known.labels_RJC[:, :, condition]])
    raters = (GOLD, *cube.judges)
    return _compare(raters, labels_RK, _members(known), cube.conditions[condition], settings)


def _members(cube: LabelCube) -> csr_array[np.float64] | None:
    sources_R = cube.sources_R
    return None if sources_R is None else source_members(sources_R, len(sources_R))


def _compare(
    raters: tuple[str, ...],
    labels_RK: NDArray[np.int64],
    members_GR: csr_array[np.float64] | None,
    condition: str,
    settings: Settings,
) -> list[AgreementRow]:
    """Return the agreement of the first rater with each other one."""
    counted = count_pairs(labels_RK[:, 0], labels_RK[:, 1:], members_GR)
    rows = []
    for other, counts in zip(raters[1:], counted, strict=True):
        pair = (raters[0], other)
        found = agreement_of(counts, confidence=settings.confidence, raters=pair)
        rows.append(
            AgreementRow(*pair, condition, kappa_of_max=_share_of_max(found), **found._asdict())
        )
    return rows


def _share_of_max(found: PairAgreement) -> float | None:
    # The ceiling is above 0 wherever κ is defined: there both raters gave both labels.
    if found.kappa is None or found.kappa_max is None:
        return None
    return found.kappa / found.kappa_max


def _alphas(cube: LabelCube, settings: Settings) -> list[Alpha]:
    """Return each condition's α; no α with fewer than two judges."""
    if len(cube.judges) < 2:
        return []
    return krippendorff_alphas(
        cube.labels_RJC,
        sources_R=cube.sources_R,
        n_resamples=settings.n_resamples,
        seed=settings.seed,
        confidence=settings.confidence,
    )


def _row_of_all(cube: LabelCube, condition: str, alpha: Alpha) -> AgreementRow:
    return AgreementRow(
        ALL,
        ALL,
        condition,
        n=len(cube.record_ids),
        alpha=alpha.value,
        alpha_low=alpha.low,
        alpha_high=alpha.high,
        reason=alpha.reason,
    )
