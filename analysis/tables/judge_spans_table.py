"""What the judges' rates would be if only strings that stand in the answer counted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.labels import LabelCube
from ragmend.analysis.printing.notes import INDEPENDENT, few_sources_note, notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.clusters import cluster_mean_intervals, fewest_sources
from ragmend.analysis.statistics.intervals import Interval, wilson_interval
from ragmend.analysis.statistics.mcnemar import exact_mcnemar
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("condition", "condition", "text"),
    Column("judged", "judged", "count"),
    Column("spans", "strings named", "count"),
    Column("located", "located", "count"),
    Column("unlocated", "not located", "count"),
    Column("flagged", "hallucinated", "count"),
    Column("flagged_located", "by located alone", "count"),
    Column("rate_pct", "rate %", "decimal", 1),
    Column("rate", "interval", "interval", 1),
    Column("rate_located_pct", "rate %, located", "decimal", 1),
    Column("rate_located", "interval, located", "interval", 1),
    Column("rate_located_cluster", "located, by source", "interval", 1),
    Column("diff_pp", "difference, points", "decimal", 2),
    Column("diff_located_pp", "difference, located", "decimal", 2),
    Column("p_exact", "p", "p_value"),
    Column("p_located", "p, located", "p_value"),
)


class SpansRow(NamedTuple):
    """One judge in one condition: its labels, and those that located strings alone would give.

    Rates and their intervals are in percent, of all answers; the interval by source is None
    without at least two sources. Differences, in points, are the condition minus the reference;
    None on the reference and without one. The p-values are McNemar's, exact and not adjusted.
    """

    judge: str
    condition: str
    n: int
    judged: int | None
    """Answers that were not empty; None where the labels do not say."""
    spans: int
    located: int
    unlocated: int
    flagged: int
    flagged_located: int
    rate_pct: Fraction | None
    rate_low: float
    rate_high: float
    rate_cluster_low: float | None
    rate_cluster_high: float | None
    rate_located_pct: Fraction | None
    rate_located_low: float
    rate_located_high: float
    rate_located_cluster_low: float | None
    rate_located_cluster_high: float | None
    diff_pp: Fraction | None
    diff_located_pp: Fraction | None
    p_exact: float | None
    p_located: float | None


class _Rate(NamedTuple):
    """A rate under one definition, by Wilson and by source, and its change from the reference."""

    flagged: int
    wilson: Interval
    by_source: Interval | None
    diff_pp: Fraction | None
    p: float | None


def without_spans(study: Study) -> str | None:
    """Say that no judge named a string; None where one did."""
    spans = study.cube.spans_RJC
    return None if spans is not None and (spans.named > 0).any() else "no judge named a string"


def judge_spans_table(study: Study) -> Table:
    """Tabulate rates and differences under both definitions of a hallucinated answer.

    Args:
        study: Its labels, with the columns n_spans and n_located.

    Raises:
        StatisticsError: The labels do not say what was named, or contradict it.
    """
    cube, reference = study.cube, study.design.reference
    telling = _telling_judges(cube)
    rows = [
        _row(cube, judge, condition, reference, study.settings)
        for judge in telling
        for condition in cube.conditions
    ]
    silent = [judge for judge in cube.judges if judge not in telling]
    sources = cube.sources_R
    notes = notes_for(
        study.provenance,
        "hallucinated: the judge named at least one string, whether it stands in the answer or "
        "not, as everywhere else; by located alone: at least one of them stands there",
        f"judges that give labels only, left out here: {', '.join(silent)}" if silent else None,
        None if cube.empty_RJC is not None else "empty answers: not marked in this input",
        None
        if reference is None
        else f"difference: the condition minus {reference}; p: McNemar's, exact, not adjusted",
        f"interval: Wilson, {100 * study.settings.confidence:g} %",
        INDEPENDENT,
        None if sources is None else few_sources_note(fewest_sources(sources)),
        judged=True,
    )
    title = "Strings that judges named: rates with all of them, and with those located alone"
    return Table("judge_spans", title, table_frame(rows), _COLUMNS, notes)


def _telling_judges(cube: LabelCube) -> list[str]:
    if cube.spans_RJC is None:
        raise StatisticsError("the labels do not say how many strings were named")
    named_RJC = cube.spans_RJC.named
    return [judge for j, judge in enumerate(cube.judges) if (named_RJC[:, j] >= 0).all()]


def _row(
    cube: LabelCube, judge: str, condition: str, reference: str | None, settings: Settings
) -> SpansRow:
    labels_RD = _labels(cube, judge, condition)
    n = len(labels_RD)
    is_compared = reference is not None and condition != reference
    before_RD = _labels(cube, judge, str(reference)) if is_compared else None
    rate, by_located = _rates(labels_RD, before_RD, cube.sources_R, settings)
    j, c = cube.judges.index(judge), cube.conditions.index(condition)
    named, located = (int(counts_RJC[:, j, c].sum()) for counts_RJC in cube.spans_RJC or ())
    return SpansRow(
        judge=judge,
        condition=condition,
        n=n,
        judged=None if cube.empty_RJC is None else n - int(cube.empty_RJC[:, j, c].sum()),
        spans=named,
        located=located,
        unlocated=named - located,
        flagged=rate.flagged,
        flagged_located=by_located.flagged,
        rate_pct=percent(rate.flagged, n),
        rate_low=100 * rate.wilson.low,
        rate_high=100 * rate.wilson.high,
        rate_cluster_low=None if rate.by_source is None else rate.by_source.low,
        rate_cluster_high=None if rate.by_source is None else rate.by_source.high,
        rate_located_pct=percent(by_located.flagged, n),
        rate_located_low=100 * by_located.wilson.low,
        rate_located_high=100 * by_located.wilson.high,
        rate_located_cluster_low=None if by_located.by_source is None else by_located.by_source.low,
        rate_located_cluster_high=None
        if by_located.by_source is None
        else by_located.by_source.high,
        diff_pp=rate.diff_pp,
        diff_located_pp=by_located.diff_pp,
        p_exact=rate.p,
        p_located=by_located.p,
    )


def _labels(cube: LabelCube, judge: str, condition: str) -> NDArray[np.int64]:
    """Return both labels of each answer, R × 2: as given, and by located strings alone."""
    if cube.spans_RJC is None:
        raise StatisticsError("the labels do not say how many strings were named")
    j, c = cube.judges.index(judge), cube.conditions.index(condition)
    by_located_R = (cube.spans_RJC.located[:, j, c] > 0).astype(np.int64)
    return np.column_stack([cube.labels_RJC[:, j, c], by_located_R])


def _rates(
    labels_RD: NDArray[np.int64],
    before_RD: NDArray[np.int64] | None,
    sources_R: Sequence[str] | None,
    settings: Settings,
) -> list[_Rate]:
    """Return the rates of both definitions, D; `before_RD` are the reference's labels."""
    by_source = None
    if sources_R is not None:
        by_source = cluster_mean_intervals(
            100 * labels_RD,
            list(sources_R),
            n_resamples=settings.n_resamples,
            seed=settings.seed,
            confidence=settings.confidence,
        )
    rates = []
    for d, label_R in enumerate(labels_RD.T):
        n, flagged = len(label_R), int(label_R.sum())
        diff, p = (None, None) if before_RD is None else _change(before_RD[:, d], label_R)
        wilson = wilson_interval(flagged, n, confidence=settings.confidence)
        rates.append(_Rate(flagged, wilson, None if by_source is None else by_source[d], diff, p))
    return rates


def _change(
    before_R: NDArray[np.int64], after_R: NDArray[np.int64]
) -> tuple[Fraction | None, float]:
    """Return how many points the rate changes by, and the exact p of that."""
    b, c = int((before_R > after_R).sum()), int((before_R < after_R).sum())
    return percent(c - b, len(before_R)), exact_mcnemar(b, c).p
