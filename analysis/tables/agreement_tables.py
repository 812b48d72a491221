"""Tables of agreement: judges with each other, and each judge with human annotation."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from ragmend.analysis.inputs.labels import ALL, GOLD, LabelCube, keep_records
from ragmend.analysis.printing.notes import few_sources_note, notes_for
from ragmend.analysis.printing.table import Column, Table, percent, round_half_up, table_frame
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.intervals import wilson_interval
from ragmend.analysis.statistics.judge_agreement import AgreementRow, agreement_rows
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

_LOW_CEILING = 0.2
_MOST_NAMED = 6
_MOST_SHOWN = 120

_AGREEMENT_COLUMNS = (
    Column("rater_a", "rater A", "text"),
    Column("rater_b", "rater B", "text"),
    Column("condition", "condition", "text"),
    Column("n", "n", "count"),
    Column("kappa", "κ", "decimal", 3),
    Column("kappa", "interval", "interval", 3),
    Column("kappa_max", "max. κ", "decimal", 3),
    Column("kappa_of_max", "κ / max.", "decimal", 2),
    Column("ac1", "AC1", "decimal", 3),
    Column("ac1", "interval", "interval", 3),
    Column("pabak", "PABAK", "decimal", 3),
    Column("agree_pos", "agree on 1", "decimal", 3),
    Column("agree_neg", "agree on 0", "decimal", 3),
    Column("alpha", "alpha", "decimal", 3),
    Column("alpha", "interval", "interval", 3),
)

_RELIABILITY_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("condition", "condition", "text"),
    Column("n", "n", "count"),
    Column("n_gold_hallucinated", "hallucinated", "count"),
    Column("n_gold_clean", "clean", "count"),
    Column("sensitivity", "sensitivity %", "decimal", 1, scale=100),
    Column("sensitivity", "interval", "interval", 1, scale=100),
    Column("specificity", "specificity %", "decimal", 1, scale=100),
    Column("specificity", "interval", "interval", 1, scale=100),
    Column("rate_clean", "clean judged hallucinated %", "decimal", 1, scale=100),
    Column("rate_clean", "interval", "interval", 1, scale=100),
    Column("kappa", "κ", "decimal", 3),
    Column("kappa", "interval", "interval", 3),
    Column("kappa_max", "max. κ", "decimal", 3),
    Column("ac1", "AC1", "decimal", 3),
    Column("ac1", "interval", "interval", 3),
)


class ReliabilityRow(NamedTuple):
    """One judge against human annotation of the untouched answers; rates are proportions."""

    judge: str
    condition: str
    n: int
    n_gold_hallucinated: int
    n_gold_clean: int
    sensitivity: Fraction | None
    sensitivity_low: float | None
    sensitivity_high: float | None
    specificity: Fraction | None
    specificity_low: float | None
    specificity_high: float | None
    rate_clean: Fraction | None
    rate_clean_low: float | None
    rate_clean_high: float | None
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    kappa_max: float | None
    ac1: float | None
    ac1_low: float | None
    ac1_high: float | None


class _Rate(NamedTuple):
    """A rate with Wilson's interval; all None where it is a rate of nothing."""

    value: Fraction | None
    low: float | None
    high: float | None


def without_second_rater(study: Study) -> str | None:
    """Say that there are not two raters, judges or gold, to agree."""
    return None if study.agreement else "needs two judges, or one and gold labels"


def rater_agreement_table(study: Study) -> Table:
    """Tabulate how well judges agree with each other, and with gold on the untouched answers.

    Args:
        study: Its labels: record_id, judge, condition, label and perhaps gold, source_id.

    Raises:
        StatisticsError: The labels are incomplete, doubled or not 0/1, a judge bears the name
            of another rater, or there are fewer than two raters.

    Source: arXiv 2608.29307, section 8 (κ).
    """
    rows = study.agreement
    notes = notes_for(
        study.provenance,
        *_meaning_notes(study, rows),
        "κ sets agreement against what the raters' rates of label 1 give by chance: where nearly "
        "all answers get one label it is low however often they agree; AC1, PABAK (2 · share of "
        "agreement − 1) and the agreement on either label do not fall so",
        "max. κ: what raters with these rates could reach at best; κ / max.: the part reached",
        _ceiling_note(rows),
        few_sources_note(_fewest_sources(study.cube, rows)),
        *_undefined_notes(rows),
        judged=True,
    )
    title = "Agreement between judges, and with gold"
    frame = table_frame(rows)
    return Table(
        "agreement", title, frame, _AGREEMENT_COLUMNS, notes, is_lookup=len(rows) > _MOST_SHOWN
    )


def judge_reliability_table(study: Study) -> Table:
    """Tabulate each judge's errors against human annotation of the untouched answers.

    An empty answer is left out: no judge saw it, and its label is a definition.

    Args:
        study: Its labels, with gold.

    Raises:
        StatisticsError: The labels are not complete, or no gold of a reference condition is
            known.

    Source: arXiv 2608.29307, sections 7.5 and 8.
    """
    settings, seen = study.settings, _seen_with_gold(study)
    if not seen:
        raise StatisticsError("judge reliability needs gold labels of the untouched answers")
    against_gold = [_against_gold(cube, settings) for cube in seen]
    rows = [
        _reliability_row(cube, row, settings.confidence)
        for cube, row in zip(seen, against_gold, strict=True)
    ]
    notes = notes_for(
        study.provenance,
        f"on {rows[0].condition}, where gold holds: {int((study.cube.gold_R >= 0).sum())} of "
        f"{len(study.cube.record_ids)} answers have gold",
        _unseen_note(study, rows),
        "sensitivity: hallucinated by gold and judged so; specificity: clean by gold and judged "
        "so; these errors need not be the same on repaired answers",
        f"intervals of rates: Wilson, {100 * study.settings.confidence:g} %, answers taken as "
        "independent",
        f"intervals of κ and AC1: {_pair_interval(seen[0], settings)}",
        few_sources_note(len(set(seen[0].sources_R or ()))),
        *map(_judge_ceiling_note, seen, against_gold),
        *_undefined_notes(against_gold),
        judged=True,
    )
    title = "Judges against human annotation"
    return Table("judge_reliability", title, table_frame(rows), _RELIABILITY_COLUMNS, notes)


def without_seen_gold(study: Study) -> str | None:
    """Say that no judge saw an untouched answer that has gold; None where one did."""
    return None if _seen_with_gold(study) else "needs gold labels of untouched answers, not empty"


def _seen_with_gold(study: Study) -> list[LabelCube]:
    """Return each judge's labels of the untouched answers that have gold and are not empty.

    A judge without any such answer is left out.
    """
    cube, reference = study.cube, study.design.reference
    if reference is None:
        return []
    c = cube.conditions.index(reference)
    parts = []
    for j, judge in enumerate(cube.judges):
        kept_R = cube.gold_R >= 0
        if cube.empty_RJC is not None:
            kept_R = kept_R & (cube.empty_RJC[:, j, c] != 1)
        if kept_R.any():
            alone = cube._replace(
                judges=(judge,),
                conditions=(reference,),
                labels_RJC=cube.labels_RJC[:, [j]][:, :, [c]],
                empty_RJC=None,
            )
            parts.append(keep_records(alone, kept_R))
    return parts


def _against_gold(alone: LabelCube, settings: Settings) -> AgreementRow:
    """Return the agreement with gold of the one judge of these labels."""
    (row,) = agreement_rows(alone, alone.conditions[0], settings)
    return row


def _unseen_note(study: Study, rows: Sequence[ReliabilityRow]) -> str | None:
    """Say that empty answers with gold are not counted, where there are any."""
    n_gold = int((study.cube.gold_R >= 0).sum())
    if len(rows) == len(study.cube.judges) and all(row.n == n_gold for row in rows):
        return None
    return (
        "empty answers are left out here, for no judge saw them: that they count as not "
        "hallucinated is a definition"
    )


def _meaning_notes(study: Study, rows: Sequence[AgreementRow]) -> list[str]:
    """Say what the raters and intervals of these rows are."""
    settings = study.settings
    notes = []
    if any(row.rater_b != ALL for row in rows):
        notes.append(
            f"κ: Cohen's; AC1: Gwet's; their intervals: {_pair_interval(study.cube, settings)}"
        )
    gold = next((row for row in rows if row.rater_a == GOLD), None)
    if gold is not None:
        notes.append(f"gold: human annotation, on {gold.condition} alone ({gold.n} answers)")
    if study.cube.empty_RJC is not None and (study.cube.empty_RJC == 1).any():
        notes.append(
            "an empty answer counts here as labelled 0 by every judge; judge_reliability and "
            "judge_error leave it out"
        )
    if any(row.rater_a == ALL for row in rows):
        units = "records" if study.cube.sources_R is None else "whole sources"
        notes.append(
            f"alpha: Krippendorff's, of all {len(study.cube.judges)} judges, in the rows of {ALL}; "
            f"percentile bootstrap over {units}, {settings.n_resamples} resamples, "
            f"seed {settings.seed}"
        )
    return notes


def _pair_interval(cube: LabelCube, settings: Settings) -> str:
    level, sources = f"{100 * settings.confidence:g} %", cube.sources_R
    if sources is None:
        return f"{level}, large-sample, answers taken as independent"
    n_sources = len(set(sources))
    if n_sources < 2:
        return "none, for all answers share one source"
    return (
        f"{level}, linearised and summed by source ({n_sources} sources), for answers "
        "from one source may be alike"
    )


def _fewest_sources(cube: LabelCube, rows: Sequence[AgreementRow]) -> int:
    """Return the sources behind the rows: those of answers with gold, if gold is a rater."""
    has_gold = any(row.rater_a == GOLD for row in rows)
    known = keep_records(cube, cube.gold_R >= 0) if has_gold else cube
    return len(set(known.sources_R or ()))


def _ceiling_note(rows: Sequence[AgreementRow]) -> str | None:
    """Name the pairs whose κ cannot be high whatever they do, the lowest ceilings first."""
    ceilings = sorted(
        (row.kappa_max, f"{row.rater_a} and {row.rater_b} on {row.condition}")
        for row in rows
        if row.kappa_max is not None and row.kappa_max < _LOW_CEILING
    )
    if not ceilings:
        return None
    named = [f"{pair} ({round_half_up(most, 3)})" for most, pair in ceilings[:_MOST_NAMED]]
    more = len(ceilings) - _MOST_NAMED
    rest = f", and {more} more" if more > 0 else ""
    return f"κ cannot reach {_LOW_CEILING:g} given the raters' rates: {', '.join(named)}{rest}"


def _judge_ceiling_note(alone: LabelCube, row: AgreementRow) -> str | None:
    """Say how high a judge's κ could be, where that is low."""
    if row.kappa_max is None or row.kappa_max >= _LOW_CEILING:
        return None
    ones = int(alone.labels_R(row.rater_b, row.condition).sum())
    rates = [percent(count, row.n) for count in (ones, int(alone.gold_R.sum()))]
    judged, gold = (round_half_up(rate, 1) for rate in rates if rate is not None)
    return (
        f"{row.rater_b}: κ against gold cannot exceed {round_half_up(row.kappa_max, 3)}, for it "
        f"judges {judged} % hallucinated where gold has {gold} %"
    )


def _undefined_notes(rows: Sequence[AgreementRow]) -> list[str]:
    """Give each reason for an undefined value once, with the number of rows it is behind."""
    reasons = [row.reason for row in rows if row.reason is not None]
    notes = [
        f"—: {reason} ({reasons.count(reason)} of {len(rows)} rows)"
        for reason in dict.fromkeys(reasons)
    ]
    if len(notes) > _MOST_NAMED:
        more = len(notes) - _MOST_NAMED
        notes = [*notes[:_MOST_NAMED], f"—: {more} more reasons, in the CSV"]
    return notes


def _reliability_row(
    alone: LabelCube, against_gold: AgreementRow, confidence: float
) -> ReliabilityRow:
    judged_R = alone.labels_R(against_gold.rater_b, against_gold.condition)
    of_hallucinated_R, of_clean_R = judged_R[alone.gold_R == 1], judged_R[alone.gold_R == 0]
    found, wrongly = int(of_hallucinated_R.sum()), int(of_clean_R.sum())
    n_hallucinated, n_clean = len(of_hallucinated_R), len(of_clean_R)
    return ReliabilityRow(
        against_gold.rater_b,
        against_gold.condition,
        against_gold.n,
        n_hallucinated,
        n_clean,
        *_rate(found, n_hallucinated, confidence),
        *_rate(n_clean - wrongly, n_clean, confidence),
        *_rate(wrongly, n_clean, confidence),
        *(against_gold.kappa, against_gold.kappa_low, against_gold.kappa_high),
        against_gold.kappa_max,
        *(against_gold.ac1, against_gold.ac1_low, against_gold.ac1_high),
    )


def _rate(count: int, of: int, confidence: float) -> _Rate:
    if not of:
        return _Rate(None, None, None)
    return _Rate(Fraction(count, of), *wilson_interval(count, of, confidence=confidence))
