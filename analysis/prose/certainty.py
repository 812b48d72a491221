"""What the labels and verdicts of language models rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragmend.analysis.printing.table import Table
from ragmend.analysis.prose.rows import Row, rows_of
from ragmend.analysis.prose.words import counted, listed, percent, points, share
from ragmend.analysis.settings import SIGNIFICANCE_LEVEL, Provenance


def located_alone(tables: Mapping[str, Table]) -> Iterator[str]:
    """Say what would change if strings that stand nowhere in the answer did not count."""
    rows = rows_of(tables, "judge_spans")
    named, unlocated = (sum(row[count] for row in rows) for count in ("spans", "unlocated"))
    if not unlocated:
        return
    sentence = (
        f"Of {counted(named, 'string')} that judges named as unsupported, {unlocated:,} "
        f"{'stands' if unlocated == 1 else 'stand'} nowhere in the answer"
    )
    lost = sum(row["flagged"] - row["flagged_located"] for row in rows)
    if not lost:
        yield f"{sentence}; without them no label would change."
        return
    most = min(rows, key=_change)
    yield (
        f"{sentence}; without them {counted(lost, 'label')} of 1 would be 0, and the rate of "
        f"{most['judge']} on {most['condition']}, which changes most, {points(_change(most))} "
        "points."
    )
    turned = [f"{row['judge']} on {row['condition']}" for row in rows if _is_turned(row)]
    if turned:
        yield (
            f"Whether the difference from the reference is significant, before any correction, "
            f"would change for {listed(turned)}."
        )


def certainty_of_verdicts(tables: Mapping[str, Table], provenance: Provenance) -> Iterator[str]:
    """Say how many verdicts lie near the threshold, and how many the scoring decides."""
    for row in rows_of(tables, "verifier_certainty"):
        if row["task"] != "pooled":
            continue
        yield (
            f"Of {counted(row['claims'], 'verdict')} {row['unstable']:,} "
            f"({percent(row['unstable_pct'])}) lie within {provenance.unstable_within:g} of the "
            "threshold and may come out otherwise on another run; the verifier put at least "
            f"{share(row['min_mass'])} of its probability on Yes and No."
        )
        if row["scored_both"]:
            yield (
                "Read from “Yes” and “No” alone, or from all their forms, P(support) puts "
                f"{row['changed']:,} of {counted(row['scored_both'], 'claim')} on different sides "
                "of the threshold."
            )


def _change(row: Row) -> float:
    return float(row["rate_located_pct"] - row["rate_pct"])


def _is_turned(row: Row) -> bool:
    if row["p_exact"] is None or row["p_located"] is None:
        return False
    return bool((row["p_exact"] < SIGNIFICANCE_LEVEL) != (row["p_located"] < SIGNIFICANCE_LEVEL))
