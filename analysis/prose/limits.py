"""What the numbers cannot say, and which sentences of the papers they do not bear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragmend.analysis.printing.printed import Section
from ragmend.analysis.printing.table import Table
from ragmend.analysis.prose.rows import rows_of
from ragmend.analysis.prose.words import counted, listed
from ragmend.analysis.settings import Provenance
from ragmend.analysis.study import Study

_REFUSED = "refused: "


def what_papers_say(study: Study, tables: Mapping[str, Table]) -> Section | None:
    """Name the sentences of the papers that these data do not bear."""
    if "claims_of_the_text" not in tables:
        return None
    rows = rows_of(tables, "claims_of_the_text")
    refuted = [row for row in rows if row["holds"] == "no"]
    borne = sum(row["holds"] == "yes" for row in rows)
    sentences = [
        f"“{row['claim']}” ({row['source']}, {row['where']}) does not hold here: {row['evidence']}."
        for row in refuted
    ]
    rest = "" if borne + len(refuted) == len(rows) else "; for the rest the input is missing"
    sentences.append(
        f"Of {counted(len(rows), 'sentence')} of the papers {borne} "
        f"{'is' if borne == 1 else 'are'} borne out by these data and {len(refuted)} "
        f"{'is' if len(refuted) == 1 else 'are'} not{rest}."
    )
    return Section(
        heading="Sentences of the papers, held against these data", sentences=tuple(sentences)
    )


def what_cannot_be_said(study: Study, tables: Mapping[str, Table]) -> Section | None:
    """Say which questions no number here answers."""
    sentences = []
    if "contrasts" in tables:
        sentences.append(
            f"No human label of any condition but {study.design.reference} is among the inputs: a "
            "lower rate says that judges find less to object to, not that the answers are right."
        )
    sentences += _judge_error(study, tables)
    sentences += _heuristic_judges(study.provenance)
    if study.provenance.faults is None and study.frames.has("labels"):
        sentences.append(
            "The input does not say whether labels are missing because a judge failed; if failures "
            "were left out before, the rates hold for what remained."
        )
    if not sentences:
        return None
    return Section(heading="What these numbers cannot say", sentences=tuple(sentences))


def _heuristic_judges(provenance: Provenance) -> Iterator[str]:
    """Say which judges are heuristics; with the lexical verifier they share the evidence."""
    names = provenance.heuristic_judges
    if provenance.embedded_judges:
        who, they = "The judges are heuristics", "they"
    elif names:
        are = "is a heuristic" if len(names) == 1 else "are heuristics"
        who, they = f"Among the judges {listed(names)} {are}", "heuristics"
    else:
        return
    if provenance.has_model_verifier:
        rest, follows = ", without a language model", "does not show that the answers are better"
    else:
        rest, follows = " over the same evidence as the verifier", "follows from how they work"
    yield f"{who}{rest}; that {they} object less after a repair {follows}."


def _judge_error(study: Study, tables: Mapping[str, Table]) -> Iterator[str]:
    """Say which corrected rates are refused, by reason."""
    rows = [
        row for row in rows_of(tables, "judge_error") if str(row["status"]).startswith(_REFUSED)
    ]
    for status in dict.fromkeys(row["status"] for row in rows):
        cells = listed(
            [f"{row['judge']} on {row['condition']}" for row in rows if row["status"] == status]
        )
        reason = status.removeprefix(_REFUSED)
        yield f"No rate corrected by the judge's errors is given for {cells}: {reason}."
    if any(row["condition"] != study.design.reference for row in rows):
        yield (
            "A judge's errors on untouched answers need not be its errors on repaired ones: labels "
            "by people on repaired answers are needed."
        )
