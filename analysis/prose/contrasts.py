"""What changed between conditions, what did not, and whether it could have been seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragmend.analysis.printing.printed import Section
from ragmend.analysis.printing.table import Table
from ragmend.analysis.prose.rows import rows_of
from ragmend.analysis.prose.words import MOST_NAMED, counted, listed, p_value, points
from ragmend.analysis.settings import Contrast
from ragmend.analysis.statistics.paired import PairedContrast
from ragmend.analysis.study import Study

LEVEL = 0.05


def what_changed(study: Study, tables: Mapping[str, Table]) -> Section | None:
    """Say of each primary contrast which judges see a significant change, and how large."""
    if "contrasts" not in tables:
        return None
    sentences = [
        *(_change(contrast, rows) for contrast, rows in _by_contrast(study)),
        *_clusters(study),
        *_across(tables),
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
    return (row.p_exact if row.p_holm is None else row.p_holm) < LEVEL


def _undecided(row: PairedContrast, detectable_pp: float | None, verdict: str, study: Study) -> str:
    start = (
        f"{row.contrast}, {row.judge}: {points(row.diff_pp)} points, {_holm(row)}: not significant"
    )
    if detectable_pp is None:
        can = "so few labels differ here that no change among them could have been found"
    else:
        can = (
            f"a change of {points(detectable_pp)[1:]} points or more would have been found with "
            f"{100 * study.settings.power:g} % power, a smaller one perhaps not"
        )
    margin = f"{study.settings.margin_pp:g} points"
    equal = (
        f"the two are equivalent within {margin}"
        if verdict == "equivalent"
        else f"and it is not shown that the two are within {margin}"
    )
    return f"{start}; {can}; {equal}."


def _clusters(study: Study) -> Iterator[str]:
    if study.cube.sources_R is None:
        return
    lost = [
        f"{row.judge} {row.contrast}"
        for row in study.contrasts
        if row.family == "primary" and _is_significant(row) and _includes_zero(row)
    ]
    if lost:
        yield (
            f"Once answers to one source are taken as related, {listed(lost)} "
            f"{'is' if len(lost) == 1 else 'are'} no longer significant: the interval over sources "
            "includes zero."
        )
        return
    deffs = [row.deff for row in study.contrasts if row.deff is not None]
    if deffs:
        yield (
            "Every significant primary contrast stays so when whole sources are drawn (the "
            f"largest design effect is {max(deffs):.2f})."
        )


def _includes_zero(row: PairedContrast) -> bool:
    low, high = row.ci_cluster_low, row.ci_cluster_high
    return low is not None and high is not None and low <= 0 <= high


def _across(tables: Mapping[str, Table]) -> Iterator[str]:
    primary = [row for row in rows_of(tables, "across_judges") if row["family"] == "primary"]
    mixed = [row["contrast"] for row in primary if row["direction"] == "mixed"]
    agreed = [
        row["contrast"]
        for row in primary
        if row["p_max_holm"] is not None and row["p_max_holm"] < LEVEL
    ]
    if agreed:
        yield (
            f"All judges agree, by an intersection–union test, on {listed(agreed)} "
            f"({counted(len(agreed), 'contrast')} of {len(primary)})."
        )
    if mixed:
        yield f"The judges do not agree on a direction for {listed(mixed)}."
