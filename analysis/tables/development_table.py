"""How trained detectors did on the development answers after each epoch."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, proportion, table_frame
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

_KEY = ["run_id", "epoch", "level"]
_COUNTS = ["n_responses", "tp", "fp", "fn", "n_empty", "n_unparsed"]
_THRESHOLD = "threshold"
_COLUMNS = (
    Column("run_id", "run", "text"),
    Column("epoch", "epoch", "count"),
    Column("chosen", "chosen", "text"),
    Column("n_responses", "n", "count"),
    Column("precision", "precision %", "decimal", 1, scale=100),
    Column("recall", "recall %", "decimal", 1, scale=100),
    Column("f1", "F1 %", "decimal", 1, scale=100),
    Column("span_precision", "span precision %", "decimal", 1, scale=100),
    Column("span_recall", "span recall %", "decimal", 1, scale=100),
    Column("span_f1", "span F1 %", "decimal", 1, scale=100),
    Column("empty_pct", "empty answers %", "decimal", 1),
    Column("unparsed_pct", "unparsed answers %", "decimal", 1),
    Column(_THRESHOLD, "threshold", "decimal", 3),
    Column("health", "health", "text"),
)

_Row = Mapping[Hashable, Any]


class EpochRow(NamedTuple):
    """One run after one epoch: responses, then characters of spans, as proportions."""

    run_id: str
    epoch: int
    chosen: str
    n_responses: int
    tp: int | None
    fp: int | None
    fn: int | None
    precision: Fraction | None
    recall: Fraction | None
    f1: Fraction | None
    span_tp: int | None
    span_fp: int | None
    span_fn: int | None
    span_precision: Fraction | None
    span_recall: Fraction | None
    span_f1: Fraction | None
    empty_pct: Fraction | None
    unparsed_pct: Fraction | None
    threshold: float | None
    health: str | None


class _LevelScores(NamedTuple):
    tp: int | None = None
    fp: int | None = None
    fn: int | None = None
    precision: Fraction | None = None
    recall: Fraction | None = None
    f1: Fraction | None = None


def detector_development_table(study: Study) -> Table:
    """Return each run's scores on the development answers by epoch, and which one was chosen.

    Args:
        study: Its development; and its runs, if there, for those that have none.

    Raises:
        StatisticsError: An epoch lacks its response level, or not one epoch of a run is chosen.

    Source: arXiv 2608.29307, section 3.1 (an epoch is chosen by response-level F1).
    """
    scores = needed(study.frames, "development", [*_KEY, *_COUNTS, "chosen"], key=_KEY)
    rows = [
        _epoch_row({row["level"]: row for row in part.to_dict("records")})
        for _, part in scores.groupby(["run_id", "epoch"], sort=False)
    ]
    _check_chosen(rows)
    columns: tuple[Column, ...] = _COLUMNS
    if all(row.threshold is None for row in rows):
        columns = tuple(column for column in columns if column.name != _THRESHOLD)
    notes = notes_for(
        study.provenance,
        "on development answers, of the train split: they chose the epoch and a threshold, so that "
        "these scores are too high for others",
        "empty and unparsed answers count as not flagged; spans are scored by character",
        "—: undefined, or there is none",
        _absent_note(study),
    )
    title = "Development scores by run and epoch"
    return Table("detector_development", title, table_frame(rows), columns, notes)


def _epoch_row(levels: Mapping[str, _Row]) -> EpochRow:
    any_level = next(iter(levels.values()))
    row, span = levels.get("response"), levels.get("span")
    if row is None:
        raise StatisticsError(
            f"development: run {any_level['run_id']}, epoch {any_level['epoch']}: no scores at "
            "response level"
        )
    n = int(row["n_responses"])
    return EpochRow(
        str(row["run_id"]),
        int(row["epoch"]),
        "yes" if row["chosen"] else "no",
        n,
        *_level_scores(row),
        *(_LevelScores() if span is None else _level_scores(span)),
        empty_pct=percent(int(row["n_empty"]), n),
        unparsed_pct=percent(int(row["n_unparsed"]), n),
        threshold=row.get(_THRESHOLD),
        health=row.get("health"),
    )


def _level_scores(row: _Row) -> _LevelScores:
    tp, fp, fn = (int(row[name]) for name in ("tp", "fp", "fn"))
    return _LevelScores(
        tp,
        fp,
        fn,
        precision=proportion(tp, tp + fp),
        recall=proportion(tp, tp + fn),
        f1=proportion(2 * tp, 2 * tp + fp + fn),
    )


def _check_chosen(rows: list[EpochRow]) -> None:
    for run in dict.fromkeys(row.run_id for row in rows):
        n = sum(row.run_id == run and row.chosen == "yes" for row in rows)
        if n != 1:
            raise StatisticsError(f"development: run {run}: expected one chosen epoch, found {n}")


def _absent_note(study: Study) -> str | None:
    """Name the runs that have no development scores."""
    if not study.frames.has("runs"):
        return None
    scores = needed(study.frames, "development", ["model", "seed"])
    there = {*zip(scores["model"].map(str), scores["seed"].map(str), strict=True)}
    absent = [
        f"{run.model} seed {run.seed}"
        for run in study.all_runs
        if (run.model, run.seed) not in there
    ]
    return f"without development scores: {', '.join(absent)}" if absent else None
