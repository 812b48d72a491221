"""The detectors over their seeds (Table 1), and what share of each run's answers failed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.inputs.runs import (
    DetectorRun,
    UnscoredRun,
    by_model,
    natural_order,
)
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import (
    UNDEFINED,
    Cell,
    Column,
    Table,
    percent,
    round_half_up,
    table_frame,
)
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd

UNUSABLE = "†"

_SUMMARY_COLUMNS = (
    Column("mean_all", "all: mean", "decimal", 2),
    Column("sd_all", "all: SD", "decimal", 2),
    Column("mean_usable", "usable: mean", "decimal", 2),
    Column("sd_usable", "usable: SD", "decimal", 2),
    Column("median_all", "median, all", "decimal", 2),
    Column("median_usable", "median, usable", "decimal", 2),
    Column("n_runs", "runs", "count"),
    Column("n_usable", "usable", "count"),
    Column("failure_rate_pct", "unusable %", "decimal", 1),
)

_FAILED_COLUMNS = (
    Column("model", "model", "text"),
    Column("seed", "seed", "text"),
    Column("f1", "F1 %", "decimal", 1),
    Column("usable", "usable", "text"),
    Column("empty_pct", "empty answers %", "decimal", 1),
    Column("unparsed_pct", "unparsed answers %", "decimal", 1),
)
_READ_COLUMN = Column("f1_read", "F1 % of read answers", "decimal", 1)
_OPTIONAL_COLUMNS = (
    _READ_COLUMN,
    Column("health", "health", "text"),
    Column("reason", "reason", "text"),
)


class ModelRow(NamedTuple):
    """What one model's runs sum up to, in percent."""

    model: str
    n_runs: int
    n_usable: int
    failure_rate_pct: Fraction | None
    mean_all: Fraction | None
    sd_all: float | None
    median_all: Fraction | None
    mean_usable: Fraction | None
    sd_usable: float | None
    median_usable: Fraction | None


class FailedRow(NamedTuple):
    """One run, and the shares of its answers that gave no verdict."""

    model: str
    seed: str
    f1: Fraction | None
    usable: str | None
    empty_pct: float | None
    unparsed_pct: float | None
    f1_read: float | None
    health: str | None
    reason: str | None


def without_scored_runs(study: Study) -> str | None:
    """Say that no run has a score."""
    if study.runs:
        return None
    return f"needs a run with a score; {unscored_note(study.unscored)}"


def detector_seeds_table(study: Study) -> Table:
    """Return each model's F1 by seed, with mean, SD and median over all and usable runs.

    Args:
        study: Its runs, of which at least one has a score.

    Source: arXiv 2608.29307, Table 1.
    """
    runs = study.runs
    frame = table_frame([_model_row(model, own) for model, own in by_model(runs)])
    columns = [Column("model", "model", "text")]
    seeds = {run.seed for run in study.all_runs}
    for seed in sorted(seeds, key=natural_order):
        of_model = {run.model: run for run in runs if run.seed == seed}
        found = [of_model.get(model) for model in frame["model"]]
        frame[f"f1_seed_{seed}"] = _cells([None if run is None else run.f1 for run in found])
        frame[f"printed_seed_{seed}"] = _cells([_print_score(run) for run in found])
        columns.append(Column(f"printed_seed_{seed}", f"seed {seed}", "text"))
    notes = notes_for(
        study.provenance,
        "F1 over responses, in percent; SD: ddof = 1, undefined with fewer than two runs",
        unusable_note(runs),
        unscored_note(study.unscored),
        "median, all: over every run; the paper prints it beside the mean and SD of usable runs",
    )
    title = "Table 1: detector runs by seed, F1 %"
    return Table("table1_detectors", title, frame, (*columns, *_SUMMARY_COLUMNS), notes)


def failed_answers_table(study: Study) -> Table:
    """Return the shares of each run's answers that were empty or could not be read.

    Args:
        study: Its runs, with empty_pct and unparsed_pct, perhaps f1_read (percent, over the answers
            that could be read), health and reason.

    Raises:
        StatisticsError: A share is not a percentage.
    """
    failed = needed(study.frames, "runs", ["model", "seed", "empty_pct", "unparsed_pct"])
    shares = {
        (str(row["model"]), str(row["seed"])): (
            _share(row["empty_pct"]),
            _share(row["unparsed_pct"]),
            _share(row.get("f1_read")),
        )
        for row in failed.to_dict("records")
    }
    rows = [_failed_row(run, *shares[run.model, run.seed]) for run in study.all_runs]
    frame = table_frame(rows)
    frame = frame.drop(columns=[c.name for c in _OPTIONAL_COLUMNS if c.name not in failed])
    columns = [column for column in (*_FAILED_COLUMNS, *_OPTIONAL_COLUMNS) if column.name in frame]
    notes = notes_for(
        study.provenance,
        "F1 counts an empty or unparsed answer as not flagged",
        unscored_note(study.unscored),
        "—: not recorded" if frame.drop(columns="reason", errors="ignore").isna().any(axis=None)
        else None,
    )  # fmt: skip
    title = "Detector runs: answers without a verdict"
    return Table("detector_failures", title, frame, tuple(columns), notes)


def mean(scores: Sequence[Fraction]) -> Fraction | None:
    """Return the exact mean; None of nothing."""
    return sum(scores, Fraction(0)) / len(scores) if scores else None


def deviation(scores: Sequence[Fraction]) -> float | None:
    """Return the standard deviation with ddof = 1; None with fewer than two scores."""
    middle = mean(scores)
    if middle is None or len(scores) < 2:
        return None
    return math.sqrt(sum((score - middle) ** 2 for score in scores) / (len(scores) - 1))


def unusable_note(runs: Sequence[DetectorRun]) -> str:
    """Name the runs that were excluded by how they turned out."""
    named = [
        f"{run.model} seed {run.seed} ({_print_score(run).removesuffix(UNUSABLE)})"
        for run in runs
        if not run.usable
    ]
    if not named:
        return "every run is usable"
    why = "unusable, excluded after its outcome was seen"
    if are_excluded_by_health(runs):
        why = "unusable by the verdict on its training"
    return (
        f"{UNUSABLE} {why}: {', '.join(named)}; the figures with all runs stand beside those "
        "without"
    )


def are_excluded_by_health(runs: Sequence[DetectorRun]) -> bool:
    """Tell whether every run that is unusable is so by a verdict on its training."""
    excluded = [run for run in runs if not run.usable]
    return bool(excluded) and all(run.health is not None for run in excluded)


def unscored_note(runs: Sequence[UnscoredRun]) -> str | None:
    """Name the runs that have no score, each with the reason; None where each has one."""
    if not runs:
        return None
    named = ", ".join(f"{run.model} seed {run.seed} ({run.why})" for run in runs)
    return f"without a score, and counted nowhere: {named}"


def _model_row(model: str, runs: Sequence[DetectorRun]) -> ModelRow:
    scores = [run.f1 for run in runs]
    usable = [run.f1 for run in runs if run.usable]
    return ModelRow(
        model=model,
        n_runs=len(scores),
        n_usable=len(usable),
        failure_rate_pct=percent(len(scores) - len(usable), len(scores)),
        mean_all=mean(scores),
        sd_all=deviation(scores),
        median_all=median(scores),
        mean_usable=mean(usable),
        sd_usable=deviation(usable),
        median_usable=median(usable) if usable else None,
    )


def _failed_row(
    run: DetectorRun | UnscoredRun,
    empty_pct: float | None,
    unparsed_pct: float | None,
    f1_read: float | None,
) -> FailedRow:
    return FailedRow(
        run.model,
        run.seed,
        run.f1 if isinstance(run, DetectorRun) else None,
        {True: "yes", False: "no", None: None}[run.usable],
        empty_pct,
        unparsed_pct,
        f1_read,
        run.health,
        run.reason,
    )


def _print_score(run: DetectorRun | None) -> str:
    if run is None:
        return UNDEFINED
    return round_half_up(run.f1, 1) + ("" if run.usable else UNUSABLE)


def _cells(values: Sequence[Cell]) -> pd.Series[Any]:
    """Return a column of objects, so that rates stay exact and None stays None."""
    import pandas as pd

    return pd.Series(values, dtype=object)


def _share(value: Any) -> float | None:  # noqa: ANN401 - a cell of anyone's table
    import pandas as pd

    if pd.isna(value):
        return None
    if not 0 <= value <= 100:
        raise StatisticsError(f"runs: a share of answers is a percentage, got {value}")
    return float(value)
