"""Whether two models differ by more than their seeds make them, on usable and on all runs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.inputs.runs import DetectorRun, by_model
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.seeds import (
    MAX_RELABELLINGS,
    f1_standard_error,
    permutation_p,
    seed_correlation,
    superiority,
    welch_test,
)
from ragmend.analysis.statistics.welch_power import MAX_RUNS, runs_needed, welch_power
from ragmend.analysis.study import Study
from ragmend.analysis.tables.seed_tables import deviation, mean, unscored_note, unusable_note
from ragmend.scoring import score_responses

_COLUMNS = (
    Column("model_a", "A", "text"),
    Column("model_b", "B", "text"),
    Column("runs", "runs", "text"),
    Column("n_a", "n A", "count"),
    Column("n_b", "n B", "count"),
    Column("mean_a", "mean A", "decimal", 2),
    Column("mean_b", "mean B", "decimal", 2),
    Column("diff_pp", "B − A, points", "decimal", 2),
    Column("ci", "interval", "interval", 2),
    Column("t", "t", "decimal", 3),
    Column("df", "df", "decimal", 3),
    Column("p_welch", "p, Welch", "p_value"),
    Column("p_permutation", "p, permutation", "p_value"),
    Column("superiority", "P(B > A)", "decimal", 2),
    Column("correlation", "r over seeds", "decimal", 2),
    Column("seeds_both", "seeds of both", "count"),
    Column("sd_a", "SD A", "decimal", 2),
    Column("sd_b", "SD B", "decimal", 2),
    Column("item_se_pp", "item SE", "decimal", 2),
    Column("power_pct", "power %", "decimal", 0),
    Column("runs_needed", "runs needed", "count"),
)


class ComparisonRow(NamedTuple):
    """Two models compared on their usable or on all runs; scores in percent."""

    model_a: str
    model_b: str
    runs: str
    n_a: int
    n_b: int
    mean_a: Fraction | None
    mean_b: Fraction | None
    diff_pp: Fraction | None
    ci_low: float | None
    ci_high: float | None
    t: float | None
    df: float | None
    p_welch: float | None
    p_permutation: float | None
    superiority: Fraction | None
    seeds_both: int
    correlation: float | None
    sd_a: float | None
    sd_b: float | None
    item_se_pp: float | None
    power_pct: float | None
    runs_needed: int | None


class _Strength(NamedTuple):
    power_pct: float | None
    runs_needed: int | None


def without_two_models(study: Study) -> str | None:
    """Say that there are not two models to compare."""
    return None if len({run.model for run in study.runs}) > 1 else "needs two models"


def seed_comparison_table(study: Study) -> Table:
    """Compare every two models in natural order, B minus A, on usable runs and on all.

    Args:
        study: Its runs; and its selection, if there, for the error that the sample of answers
            gives one F1.

    Source: arXiv 2608.29307, section 5 (Welch's test on both).
    """
    runs = study.runs
    item_se_pp = _item_error(study)
    rows = [
        _compare(which, a, b, item_se_pp=item_se_pp, settings=study.settings)
        for (_, all_a), (_, all_b) in combinations(by_model(runs), 2)
        for which, a, b in (
            ("usable", _usable(all_a), _usable(all_b)),
            ("all", all_a, all_b),
        )
        if a and b
    ]
    notes = notes_for(
        study.provenance,
        unusable_note(runs),
        unscored_note(study.unscored),
        *_rules(study.settings, item_se_pp),
    )
    title = "Two models over their seeds: F1, percentage points"
    return Table("seed_comparison", title, table_frame(rows), _COLUMNS, notes)


def _usable(runs: Sequence[DetectorRun]) -> list[DetectorRun]:
    return [run for run in runs if run.usable]


def _item_error(study: Study) -> float | None:
    """Return the sampling error of the selecting run's F1, in points; None where unknown."""
    if not study.frames.has("selection"):
        return None
    selection = needed(study.frames, "selection", ["response_id", "gold", "flagged"])
    annotated = selection[selection["gold"].notna()]
    score = score_responses(
        list(annotated["gold"].astype(bool)), list(annotated["flagged"].astype(bool))
    )
    error = f1_standard_error(score.tp, score.fp, score.fn)
    return None if error is None else 100 * error


def _compare(
    which: str,
    a: Sequence[DetectorRun],
    b: Sequence[DetectorRun],
    *,
    item_se_pp: float | None,
    settings: Settings,
) -> ComparisonRow:
    exact_a, exact_b = [run.f1 for run in a], [run.f1 for run in b]
    scores_a, scores_b = [float(f1) for f1 in exact_a], [float(f1) for f1 in exact_b]
    mean_a, mean_b = mean(exact_a), mean(exact_b)
    welch = welch_test(scores_a, scores_b, confidence=settings.confidence)
    pairs = _same_seeds(a, b)
    return ComparisonRow(
        model_a=a[0].model,
        model_b=b[0].model,
        runs=which,
        n_a=len(a),
        n_b=len(b),
        mean_a=mean_a,
        mean_b=mean_b,
        diff_pp=None if mean_a is None or mean_b is None else mean_b - mean_a,
        ci_low=None if welch is None else welch.interval.low,
        ci_high=None if welch is None else welch.interval.high,
        t=None if welch is None else welch.t,
        df=None if welch is None else welch.df,
        p_welch=None if welch is None else welch.p,
        p_permutation=permutation_p(scores_a, scores_b, seed=settings.seed),
        superiority=superiority(scores_a, scores_b),
        seeds_both=len(pairs),
        correlation=seed_correlation([x for x, _ in pairs], [y for _, y in pairs]),
        sd_a=deviation(exact_a),
        sd_b=deviation(exact_b),
        item_se_pp=item_se_pp,
        **_strength(exact_a, exact_b, settings)._asdict(),
    )


def _same_seeds(a: Sequence[DetectorRun], b: Sequence[DetectorRun]) -> list[tuple[float, float]]:
    of_seed = {run.seed: float(run.f1) for run in b}
    return [(float(run.f1), of_seed[run.seed]) for run in a if run.seed in of_seed]


def _strength(
    exact_a: Sequence[Fraction], exact_b: Sequence[Fraction], settings: Settings
) -> _Strength:
    """Return what Welch's test can see if difference and deviations are those observed."""
    mean_a, mean_b = mean(exact_a), mean(exact_b)
    sd_a, sd_b = deviation(exact_a), deviation(exact_b)
    if mean_a is None or mean_b is None or sd_a is None or sd_b is None:
        return _Strength(None, None)
    diff = float(mean_b - mean_a)
    power = welch_power(
        diff, sd_a, sd_b, len(exact_a), len(exact_b), confidence=settings.confidence
    )
    enough = runs_needed(diff, sd_a, sd_b, power=settings.power, confidence=settings.confidence)
    return _Strength(None if power is None else 100 * power, enough)


def _rules(settings: Settings, item_se_pp: float | None) -> list[str]:
    level = f"{100 * settings.confidence:g} %"
    return [
        (
            f"interval, t, df, p: Welch's test, {level} confidence; undefined where seeds change "
            "no score; it and the permutation test: with fewer than two runs of a model"
        ),
        (
            "p, permutation: two-sided, the share of all assignments of these runs to the two "
            "models whose means lie at least as far apart (drawn beyond "
            f"{MAX_RELABELLINGS:,} assignments)"
        ),
        (
            "P(B > A): share of pairs of runs in which B scores higher, ties half; r: Pearson's "
            "over the seeds that both models have, undefined below three"
        ),
        _item_note(item_se_pp),
        (
            f"power: of Welch's test with {level} confidence, if the difference and SDs observed "
            f"are the true ones; runs needed: of each model, for {100 * settings.power:g} % power "
            f"(—: undefined, or more than {MAX_RUNS:,})"
        ),
    ]


def _item_note(item_se_pp: float | None) -> str:
    if item_se_pp is None:
        return "item SE: undefined without the selection's flags and gold (or where F1 is 0 or 1)"
    return (
        "item SE: standard error, in points, that the sample of answers gives the F1 of the run "
        "behind the selection (delta method); SD A, SD B: over seeds, on the same answers"
    )
