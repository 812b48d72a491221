"""What the repair cost and what the verifier and the detectors are worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragmend.analysis.printing.printed import Section
from ragmend.analysis.printing.table import Table
from ragmend.analysis.prose.certainty import certainty_of_verdicts
from ragmend.analysis.prose.rows import rows_of
from ragmend.analysis.prose.words import counted, p_value, percent, points
from ragmend.analysis.study import Study


def what_repair_costs(study: Study, tables: Mapping[str, Table]) -> Section | None:
    """Say how much of the answers each arm keeps, and for which reduction."""
    if "table3_arms" not in tables:
        return None
    primary = study.primary_judge if "contrasts" in tables else None
    sentences = []
    for row in rows_of(tables, "table3_arms"):
        sentence = (
            f"{row['arm']} edits {percent(row['edited_pct'])} of the answers, drops "
            f"{counted(row['dropped'], 'claim')} and keeps {percent(row['retention_pct'])} of an "
            f"answer's length on average"
        )
        change = _change(study, primary, row["arm"])
        sentences.append(f"{sentence}{change}.")
    sentences += _clean(tables)
    return Section(heading="What the repair costs", sentences=tuple(sentences))


def what_finds_errors(study: Study, tables: Mapping[str, Table]) -> Section | None:
    """Say what verifier and detector runs are worth by gold."""
    sentences = [
        *_verifier(study, tables),
        *certainty_of_verdicts(tables, study.provenance),
        *_seeds(study, tables),
    ]
    if not sentences:
        return None
    return Section(heading="Verifier and detectors", sentences=tuple(sentences))


def _change(study: Study, judge: str | None, arm: str) -> str:
    for row in study.contrasts if judge is not None else ():
        if row.judge == judge and row.contrast == f"{study.design.reference}-{arm}":
            return (
                f"; the rate of {judge}, the primary judge, changes by {points(row.diff_pp)} points"
            )
    return ""


def _clean(tables: Mapping[str, Table]) -> Iterator[str]:
    rows = rows_of(tables, "table7_clean_and_hallucinatory")
    clean = [row for row in rows if row["group"] == "clean"]
    if clean:
        worst = max(clean, key=lambda row: row["edited_pct"])
        yield (
            f"The price is paid by clean answers too: {worst['arm']} edits "
            f"{percent(worst['edited_pct'])} of the {counted(worst['answers'], 'flagged answer')} "
            f"in which people found nothing wrong, and leaves "
            f"{percent(worst['retention_pct'])} of their length."
        )


def _verifier(study: Study, tables: Mapping[str, Table]) -> Iterator[str]:
    rows = rows_of(tables, "table2_verifier")
    at = [row for row in rows if row["threshold"] == study.provenance.threshold]
    if at and at[0]["precision"] is not None and at[0]["recall"] is not None:
        row = at[0]
        yield (
            f"Below the threshold of {row['threshold']:g} lie {percent(100 * row['recall'])} of "
            "the claims that people found unsupported; of the claims below it "
            f"{percent(100 * (1 - row['precision']))} are supported: edited for nothing."
        )


def _seeds(study: Study, tables: Mapping[str, Table]) -> Iterator[str]:
    for row in rows_of(tables, "seed_comparison"):
        if row["p_welch"] is None:
            continue
        sentence = (
            f"{row['model_b']} against {row['model_a']}, {row['runs']} runs: a mean F1 "
            f"{points(row['diff_pp'])} points apart, Welch's {p_value(row['p_welch'])}"
        )
        if row["power_pct"] is not None:
            sentence += (
                f"; a difference of that size would be found with {percent(row['power_pct'])} power"
            )
        if row["runs_needed"] is not None:
            sentence += (
                f", and {counted(row['runs_needed'], 'run')} of each would be needed for "
                f"{100 * study.settings.power:g} %"
            )
        yield f"{sentence}."
