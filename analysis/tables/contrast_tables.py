"""Tables of the paired contrasts: all of them, by source, and by task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ragmend.analysis.inputs.labels import keep_records
from ragmend.analysis.printing.notes import INDEPENDENT, few_sources_note, notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.settings import SIGNIFICANCE_LEVEL, Family, Settings
from ragmend.analysis.statistics.clusters import FEWEST_SOURCES, ClusterEffect, cluster_effects
from ragmend.analysis.statistics.mcnemar import exact_mcnemar
from ragmend.analysis.statistics.paired import PairedContrast, PairedLabels, pair_labels
from ragmend.analysis.statistics.score_intervals import tango_interval
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

FALLS = "‡ no longer significant"
STAYS = "stays significant"
NEITHER = "not significant either way"
ONLY_BY_SOURCE = "not significant over records, interval by source excludes 0"
TOO_FEW = "too few sources to say"
_CONTRAST_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("contrast", "contrast", "text"),
    Column("rate_a", "rate A %", "decimal", 1, scale=100),
    Column("rate_b", "rate B %", "decimal", 1, scale=100),
    Column("b", "1 → 0", "count"),
    Column("c", "0 → 1", "count"),
    Column("diff_pp", "B − A, points", "decimal", 2),
    Column("ci", "interval", "interval", 2),
    Column("ci_exact", "exact bootstrap", "interval", 2),
    Column("ci_cluster", "interval, by source", "interval", 2),
    Column("p_exact", "p", "p_value"),
    Column("p_holm", "p, Holm", "p_value"),
)
_CLUSTER_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("contrast", "contrast", "text"),
    Column("icc", "ICC", "decimal", 3),
    Column("deff", "design effect", "decimal", 2),
    Column("deff_critical", "critical effect", "decimal", 2),
    Column("ci", "interval over records", "interval", 2),
    Column("ci_cluster", "interval, by source", "interval", 2),
    Column("p_wald", "Wald p, records", "p_value"),
    Column("p_cluster", "Wald p, sources", "p_value"),
    Column("verdict", "under clustering", "text"),
)
_TASK_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("task", "task", "text"),
    Column("contrast", "contrast", "text"),
    Column("n", "n", "count"),
    Column("b", "1 → 0", "count"),
    Column("c", "0 → 1", "count"),
    Column("rate_a", "rate A %", "decimal", 1, scale=100),
    Column("rate_b", "rate B %", "decimal", 1, scale=100),
    Column("diff_pp", "B − A, points", "decimal", 2),
    Column("ci_tango", "Tango's interval", "interval", 2),
    Column("p_exact", "p, not adjusted", "p_value"),
)
_DIFFERENCE_NOTE = (
    "difference: B − A in percentage points; negative: fewer answers are judged hallucinated in B"
)
_EQUAL_ENDS_NOTE = (
    "an interval whose ends are equal: no answer changed here, or, by source, all sources changed "
    "alike, or changes cancel in each; that does not show that it is so elsewhere"
)
_DECISIVE_NOTE = (
    f"significant: p of McNemar's exact test below {SIGNIFICANCE_LEVEL:g}, Holm-adjusted for "
    "primary contrasts; intervals are not adjusted, so that one may leave out 0 (or Wald's p be "
    "smaller) where this p is not"
)


class ClusterRow(NamedTuple):
    """What sources do to one contrast; intervals in percentage points."""

    judge: str
    contrast: str
    n: int
    sources: int
    mean_cluster_size: Fraction
    icc: float | None
    deff: float | None
    deff_critical: float | None
    ci_low: float
    ci_high: float
    ci_cluster_low: float | None
    ci_cluster_high: float | None
    p_wald: float | None
    p_cluster: float | None
    verdict: str


class TaskContrastRow(NamedTuple):
    """One contrast in the records of one task; the interval in percentage points."""

    judge: str
    task: str
    contrast: str
    family: Family
    n: int
    b: int
    c: int
    rate_a: Fraction
    rate_b: Fraction
    diff_pp: Fraction
    ci_tango_low: float
    ci_tango_high: float
    p_exact: float
    log10_p: float


def contrasts_table(study: Study) -> Table:
    """Tabulate the paired contrasts of conditions within each judge.

    Args:
        study: Its labels: record_id, judge, condition, label, and perhaps source_id.

    Raises:
        StatisticsError: The labels are incomplete, doubled or not 0/1, a contrast names a
            condition without labels, or nothing can be compared.

    Source: arXiv 2608.29307, section 7.3.
    """
    frame = table_frame(study.contrasts)
    settings = study.settings
    level = f"{100 * settings.confidence:g} %"
    notes = notes_for(
        study.provenance,
        f"n = {study.contrasts[0].n} records in each comparison; {study.design.reason}",
        _DIFFERENCE_NOTE,
        f"interval: {level} percentile bootstrap over records, {settings.n_resamples} resamples, "
        f"seed {settings.seed}; exact bootstrap: the same with infinitely many resamples",
        "an answer that became empty counts as not hallucinated",
        _EQUAL_ENDS_NOTE,
        *_source_notes(study),
        "p: exact two-sided McNemar; Holm within the judge's primary contrasts; exploratory "
        f"contrasts ({_exploratory(study)}) are outside the family and not adjusted",
        "the CSV has Tango's interval, the design effect and Holm over all judges too",
        judged=True,
    )
    title = "Paired contrasts between conditions"
    return Table("contrasts", title, frame, _CONTRAST_COLUMNS, notes)


def contrast_clusters_table(study: Study) -> Table:
    """Tabulate what it does to each contrast that records share sources.

    Args:
        study: Its labels, with the source of each record.

    Raises:
        StatisticsError: The sources are unknown, or all records share one.

    Source: `cluster_effects`.
    """
    cube = study.cube
    sources = set(cube.sources_R or ())
    pairs = pair_labels(cube, study.design.contrasts)
    effects = cluster_effects(pairs.b_RS - pairs.a_RS, np.asarray(cube.sources_R or ()))
    if effects is None:
        raise StatisticsError("contrasts by source need records of at least two sources")
    rows = [
        _cluster_row(contrast, effect, len(sources))
        for contrast, effect in zip(study.contrasts, effects, strict=True)
    ]
    notes = notes_for(
        study.provenance,
        f"{len(cube.record_ids)} records of {len(sources)} sources; {_DIFFERENCE_NOTE}",
        "design effect: the variance of the difference with sources drawn over that with records "
        "drawn; critical: the design effect at which Wald's test loses significance at the 5 % "
        "level; ICC: one-way analysis of variance, below 0 where records of one source differ "
        "more than others",
        "Wald p, records and sources: Wald's test with each of the two variances; normal, and "
        f"Student's t with df = {len(sources) - 1}; not adjusted",
        _DECISIVE_NOTE,
        few_sources_note(len(sources)),
        *_verdict_notes(rows),
        judged=True,
    )
    title = "Paired contrasts when whole sources are drawn"
    return Table("contrast_clusters", title, table_frame(rows), _CLUSTER_COLUMNS, notes)


def task_contrasts_table(study: Study) -> Table:
    """Tabulate the contrasts within each task, with Tango's interval for small groups.

    Args:
        study: Its labels, with the task of each record.

    Raises:
        StatisticsError: The tasks are unknown.

    Source: Tango 1998, Statistics in Medicine 17, 891-908.
    """
    rows = list(_task_rows(study))
    notes = notes_for(
        study.provenance,
        _DIFFERENCE_NOTE,
        f"interval: Tango's score interval, {100 * study.settings.confidence:g} %, which keeps "
        "its level where few records change; records are taken as independent",
        "exploratory: groups this small were not compared by plan; p: exact two-sided McNemar, "
        "not adjusted for the number of rows",
        judged=True,
    )
    title = "Paired contrasts within each task"
    return Table("task_contrasts", title, table_frame(rows), _TASK_COLUMNS, notes)


def _source_notes(study: Study) -> Iterator[str]:
    if study.contrasts[0].ci_cluster_low is None:
        yield (
            "by source: undefined, for "
            + ("all records share one source" if study.cube.sources_R else "sources are unknown")
            + f"; {INDEPENDENT}"
        )
        return
    yield "by source: the percentile bootstrap with whole sources drawn, records within them not"
    n_sources = len(set(study.cube.sources_R or ()))
    few = few_sources_note(n_sources)
    if few is not None:
        yield few
    yield _DECISIVE_NOTE
    if n_sources < FEWEST_SOURCES:
        yield f"‡ {TOO_FEW} which contrasts stay significant by source"
        return
    fallen = [
        f"{contrast.judge} {contrast.contrast}"
        for contrast in study.contrasts
        if _verdict(contrast, n_sources) == FALLS
    ]
    yield (
        f"‡ significant over records, but the interval by source contains 0: "
        f"{', '.join(fallen) or 'no contrast'}"
    )


def _verdict_notes(rows: Sequence[ClusterRow]) -> Iterator[str]:
    """Explain the verdicts and the undefined cells that occur."""
    verdicts = {row.verdict for row in rows}
    if FALLS in verdicts:
        yield f"{FALLS}: significant, but the interval over sources contains 0"
    if TOO_FEW in verdicts:
        yield f"{TOO_FEW}: fewer than {FEWEST_SOURCES}"
    if any(row.deff is None for row in rows):
        yield "—: no record changed, or every one changed alike, so that nothing varies"
    if any(row.icc is None and row.deff is not None for row in rows):
        yield "ICC —: no source has two records"
    if any(row.p_cluster is None and row.deff is not None for row in rows):
        yield (
            "p, sources —: the mean difference is the same in every source, so that sources do "
            "not vary; that is no certainty"
        )


def _exploratory(study: Study) -> str:
    names = [c.name for c in study.design.contrasts if c.family == "exploratory"]
    return ", ".join(names) or "none here"


def _verdict(contrast: PairedContrast, n_sources: int) -> str:
    """Say what becomes of a contrast once sources are drawn; at least two are known."""
    low, high = contrast.ci_cluster_low, contrast.ci_cluster_high
    if n_sources < FEWEST_SOURCES or low is None or high is None:
        return TOO_FEW
    if low <= 0 <= high:
        return FALLS if contrast.is_significant else NEITHER
    return STAYS if contrast.is_significant else ONLY_BY_SOURCE


def _cluster_row(contrast: PairedContrast, effect: ClusterEffect, sources: int) -> ClusterRow:
    return ClusterRow(
        judge=contrast.judge,
        contrast=contrast.contrast,
        n=contrast.n,
        sources=sources,
        mean_cluster_size=Fraction(contrast.n, sources),
        icc=effect.icc,
        deff=effect.deff,
        deff_critical=effect.deff_critical,
        ci_low=contrast.ci_low,
        ci_high=contrast.ci_high,
        ci_cluster_low=contrast.ci_cluster_low,
        ci_cluster_high=contrast.ci_cluster_high,
        p_wald=effect.p_wald,
        p_cluster=effect.p_cluster,
        verdict=_verdict(contrast, sources),
    )


def _task_rows(study: Study) -> Iterator[TaskContrastRow]:
    """Yield the contrasts of every judge in every task, tasks by name."""
    cube = study.cube
    if cube.tasks_R is None:
        raise StatisticsError("contrasts by task need the task of each record")
    tasks_R = np.asarray(cube.tasks_R)
    of_task = {
        task: pair_labels(keep_records(cube, tasks_R == task), study.design.contrasts)
        for task in sorted(set(cube.tasks_R))
    }
    n_contrasts = len(study.design.contrasts)
    for j in range(len(cube.judges)):
        for task, pairs in of_task.items():
            for place in range(j * n_contrasts, (j + 1) * n_contrasts):
                yield _task_row(task, pairs, place, study.settings)


def _task_row(task: str, pairs: PairedLabels, place: int, settings: Settings) -> TaskContrastRow:
    a_R, b_R, contrast = pairs.a_RS[:, place], pairs.b_RS[:, place], pairs.contrasts_S[place]
    n, n_a, n_b = len(a_R), int(a_R.sum()), int(b_R.sum())
    b, c = int((a_R > b_R).sum()), int((a_R < b_R).sum())
    tango = tango_interval(b, c, n, confidence=settings.confidence)
    test = exact_mcnemar(b, c)
    return TaskContrastRow(
        judge=pairs.judges_S[place],
        task=task,
        contrast=contrast.name,
        family=contrast.family,
        n=n,
        b=b,
        c=c,
        rate_a=Fraction(n_a, n),
        rate_b=Fraction(n_b, n),
        diff_pp=Fraction(100 * (n_b - n_a), n),
        ci_tango_low=100 * tango.low,
        ci_tango_high=100 * tango.high,
        p_exact=test.p,
        log10_p=test.log10_p,
    )
