"""Where judges agree, with each other and with people, and why κ is low where it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragmend.analysis.printing.printed import Section
from ragmend.analysis.printing.table import Table
from ragmend.analysis.prose.rows import Row, rows_of
from ragmend.analysis.prose.words import MOST_NAMED, counted, listed, percent, share
from ragmend.analysis.study import Study

LOW_CEILING = 0.5
"""Below it the margins alone keep κ far from 1, and a reader must know."""

MOSTLY = 0.5
"""A judge that calls more clean answers hallucinated than this says so of most."""


def where_judges_agree(study: Study, tables: Mapping[str, Table]) -> Section | None:
    """Describe agreement between judges and with gold, with the ceilings that margins set."""
    if "agreement" not in tables:
        return None
    rows = rows_of(tables, "agreement")
    between = [row for row in rows if "gold" not in _raters(row) and "all" not in _raters(row)]
    with_gold = [row for row in rows if "gold" in _raters(row)]
    everyone = [row for row in rows if "all" in _raters(row)]
    sentences = [
        *_pairs(between),
        *_alpha(everyone),
        *_gold(with_gold),
        *_bias(tables),
    ]
    return Section(heading="Where judges agree", sentences=tuple(sentences))


def _raters(row: Row) -> tuple[str, str]:
    return row["rater_a"], row["rater_b"]


def _pairs(pairs: list[Row]) -> Iterator[str]:
    known = [row for row in pairs if row["kappa"] is not None]
    if known:
        low, high = (choose(known, key=lambda row: row["kappa"]) for choose in (min, max))
        lowest = f"{share(low['kappa'])} ({_pair(low)})"
        yield (
            f"Cohen's κ between two judges is {lowest}."
            if len(known) == 1
            else f"Cohen's κ between two judges runs from {lowest} to {share(high['kappa'])} "
            f"({_pair(high)}) over {len(known):,} comparisons."
        )
    capped = [row for row in known if row["kappa_max"] < LOW_CEILING]
    if capped:
        where = "There" if len(known) == 1 else f"In {len(capped)} of them"
        yield (
            f"{where} the judges' own rates allow no κ above {LOW_CEILING:g}, "
            "however well they agree: where nearly every answer gets the same label, chance "
            "explains most agreement. Read κ beside κ's ceiling and AC1 there."
        )
    undefined = len(pairs) - len(known)
    if undefined:
        yield (
            f"In {counted(undefined, 'comparison')} κ is undefined, since a judge gave every "
            "answer the same label."
        )


def _pair(row: Row) -> str:
    return f"{row['rater_a']} and {row['rater_b']}, {row['condition']}"


def _alpha(rows: list[Row]) -> Iterator[str]:
    known = [row for row in rows if row["alpha"] is not None]
    if known:
        values = ", ".join(f"{row['condition']} {share(row['alpha'])}" for row in known)
        yield f"Krippendorff's α over all judges: {values} (1 is perfect, 0 is chance)."


def _gold(rows: list[Row]) -> Iterator[str]:
    known = [row for row in rows if row["kappa"] is not None]
    if len(rows) <= MOST_NAMED or not known:
        yield from map(_against_gold, rows)
        return
    low, high = (choose(known, key=lambda row: row["kappa"]) for choose in (min, max))
    yield (
        f"κ against human annotation is defined for {counted(len(known), 'judge')}; the lowest and "
        "the highest:"
    )
    yield from map(_against_gold, (low, high))


def _against_gold(row: Row) -> str:
    judge = next(rater for rater in _raters(row) if rater != "gold")
    start = f"{judge} against human annotation:"
    if row["kappa"] is None:
        return f"{start} κ is undefined, since one of the two gave a single label."
    sentence = f"{start} κ {share(row['kappa'])} on {counted(row['n'], 'answer')}"
    if row["kappa_max"] < LOW_CEILING:
        sentence += f", of at most {share(row['kappa_max'])} with these rates of label 1"
    return f"{sentence}."


def _bias(tables: Mapping[str, Table]) -> Iterator[str]:
    rows = [row for row in rows_of(tables, "judge_reliability") if row["rate_clean"] is not None]
    if not rows:
        return
    ordered = sorted(rows, key=lambda row: row["rate_clean"])
    ends = [f"{percent(100 * row['rate_clean'])} ({row['judge']})" for row in ordered]
    rates = listed(ends) if len(ends) <= MOST_NAMED else f"from {ends[0]} to {ends[-1]}"
    yield f"Of the answers that people found clean the judges call hallucinated: {rates}."
    if ordered[-1]["rate_clean"] >= MOSTLY:
        yield (
            "A judge that calls most clean answers hallucinated cannot show that a repair left "
            "nothing behind."
        )
