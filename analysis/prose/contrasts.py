"""What changed between conditions, what did not, and whether it could have been seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragmend.analysis.printing.printed import Section
from ragmend.analysis.printing.table import Table, round_half_up
from ragmend.analysis.prose.rows import rows_of
from ragmend.analysis.prose.words import MOST_NAMED, counted, listed, p_value, points
from ragmend.analysis.settings import SIGNIFICANCE_LEVEL, Contrast
from ragmend.analysis.statistics.clusters import FEWEST_SOURCES
from ragmend.analysis.statistics.paired import PairedContrast
from ragmend.analysis.study import Study


def what_changed(study: Study, tables: Mapping[str, Table]) -> Section | None:
    """Say of each primary contrast which judges see a significant change, and how large."""
    if "contrasts" not in tables:
        return None
    sentences = [
        *(_change(contrast, rows) for contrast, rows in _by_contrast(study)),
        *_clusters(study),
        *_across(study, tables),
    ]
    return Section(heading="What changed", sentences=tuple(sentences))


def what_did_not(study: Study, tables: Mapping[str, Table]) -> Section | None:
    """Say of each contrast that is not significant how large a change could have hidden."""
    if "equivalence" not in tables:
        return None
    rows = {(row["judge"], row["contrast"]): row for row in rows_of(tables, "equivalence")}
    sentences = []
    for contrast in study.contrasts:
        if contrast.family != "primary" or _is_significant(contrast):
            continue
        row = rows[contrast.judge, contrast.contrast]
        sentences.append(_undecided(contrast, row["mde_pp"], row["verdict"], study))
    if not sentences:
        sentences = ["Every primary contrast is significant for every judge."]
    return Section(
        heading="What did not, and what could have been seen", sentences=tuple(sentences)
    )


def _by_contrast(study: Study) -> Iterator[tuple[Contrast, list[PairedContrast]]]:
    for contrast in study.design.contrasts:
        if contrast.family == "primary":
            yield contrast, [c for c in study.contrasts if c.contrast == contrast.name]


def _change(contrast: Contrast, rows: Sequence[PairedContrast]) -> str:
    seen = [row for row in rows if _is_significant(row)]
    if not seen:
        return f"{contrast.name}: no judge sees a significant change."
    named = sorted(seen, key=lambda row: row.diff_pp)
    shown = seen if len(seen) <= MOST_NAMED else [named[0], named[-1]]
    changes = (", " if shown is seen else " to ").join(
        f"{row.judge} {points(row.diff_pp)}" for row in shown
    )
    worst = max(seen, key=lambda row: (row.p_holm or 0.0, row.log10_p))
    who = "every judge" if len(seen) == len(rows) else f"{len(seen)} of {len(rows)} judges"
    fewer = {row.diff_pp < 0 for row in seen}
    what = "a different share of" if len(fewer) > 1 else "fewer" if fewer == {True} else "more"
    verb = "finds" if len(seen) == 1 or len(seen) == len(rows) else "find"
    return (
        f"{contrast.name}: {who} {verb} {what} answers "
        f"hallucinated in {contrast.b} ({changes} points; largest {_holm(worst)})."
    )


def _holm(row: PairedContrast) -> str:
    adjusted = row.p_exact if row.p_holm is None else row.p_holm
    return f"Holm-adjusted {p_value(adjusted, row.log10_p)}"


def _is_significant(row: PairedContrast) -> bool:
    return row.is_significant


def _undecided(row: PairedContrast, detectable_pp: float | None, verdict: str, study: Study) -> str:
    start = (
        f"{row.contrast}, {row.judge}: {points(row.diff_pp)} points, {_holm(row)}: not significant"
    )
    if verdict == "equivalent":
        return f"{start}; {_equivalent(row, study)}."
    margin = f"it is not shown that the two are within {study.settings.margin_pp:g} points"
    if detectable_pp is None:
        return f"{start}; too few labels differ to say what could have been seen; {margin}."
    return (
        f"{start}; by an unadjusted test at 5 % a change of {points(detectable_pp)[1:]} points "
        f"would have been found with {100 * study.settings.power:g} % power, a smaller one perhaps "
        f"not; {margin}."
    )


def _equivalent(row: PairedContrast, study: Study) -> str:
    """Say that two rates are equivalent, and what that rests on."""
    sentence = f"the two are equivalent within {study.settings.margin_pp:g} points"
    if row.deff is None:
        return f"{sentence}, if the records are independent"
    if row.deff > 1:
        return f"{sentence} if the records are taken as independent, though some share a source"
    return sentence


def _clusters(study: Study) -> Iterator[str]:
    found = [row for row in study.contrasts if row.family == "primary" and _is_significant(row)]
    if study.cube.sources_R is None or not found:
        return
    n_sources = len(set(study.cube.sources_R))
    if n_sources < FEWEST_SOURCES:
        yield (
            f"With {counted(n_sources, 'source')} it cannot be told what stays significant once "
            "answers to one source are taken as related."
        )
        return
    lost = [f"{row.judge} {row.contrast}" for row in found if _includes_zero(row)]
    deffs = [row.deff for row in found if row.deff is not None]
    if lost:
        yield (
            f"Once answers to one source are taken as related, {listed(lost)} "
            f"{'is' if len(lost) == 1 else 'are'} no longer significant: the interval over sources "
            "includes zero."
        )
    elif deffs:
        yield (
            "Every significant primary contrast stays significant when whole sources are drawn "
            f"(design effects up to {round_half_up(max(deffs), 2)})."
        )


def _includes_zero(row: PairedContrast) -> bool:
    low, high = row.ci_cluster_low, row.ci_cluster_high
    return low is not None and high is not None and low <= 0 <= high


def _across(study: Study, tables: Mapping[str, Table]) -> Iterator[str]:
    primary = [row for row in rows_of(tables, "across_judges") if row["family"] == "primary"]
    agreed = [
        row["contrast"]
        for row in primary
        if row["p_max_holm"] is not None and row["p_max_holm"] < SIGNIFICANCE_LEVEL
    ]
    if agreed:
        yield (
            f"All judges agree, by an intersection–union test over records taken as independent, "
            f"on {listed(agreed)} ({counted(len(agreed), 'contrast')} of {len(primary)})."
        )
    opposed = [contrast.name for contrast, rows in _by_contrast(study) if _is_opposed(rows)]
    if opposed:
        yield f"Judges contradict each other, each significantly, on {listed(opposed)}."


def _is_opposed(rows: Sequence[PairedContrast]) -> bool:
    return len({row.diff_pp > 0 for row in rows if _is_significant(row)}) > 1
