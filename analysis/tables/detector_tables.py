"""How well the detector finds hallucinated responses, in the RAGTruth protocol."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, proportion, table_frame
from ragmend.analysis.study import Study

if TYPE_CHECKING:
    import pandas as pd

_KEY = ["run_id", "protocol", "level", "group"]
_COUNTS = ["n_responses", "tp", "fp", "fn", "tn"]
_COLUMNS = (
    Column("run_id", "run", "text"),
    Column("protocol", "protocol", "text"),
    Column("level", "level", "text"),
    Column("group", "responses", "text"),
    Column("n_responses", "n", "count"),
    Column("precision", "precision %", "decimal", 1, scale=100),
    Column("recall", "recall %", "decimal", 1, scale=100),
    Column("f1", "F1 %", "decimal", 1, scale=100),
)


class ScoreRow(NamedTuple):
    """One run at one level over one group, as proportions; the macro row has an F1 only."""

    run_id: str
    protocol: str
    level: str
    group: str
    n_responses: int
    tp: int | None
    fp: int | None
    fn: int | None
    tn: int | None
    precision: Fraction | None
    recall: Fraction | None
    f1: Fraction | None


def detector_scores_table(study: Study) -> Table:
    """Turn a run's counts into precision, recall and F1, by task, pooled and macro.

    Args:
        study: Its detectors: run_id, protocol, level, group and the counts.

    Source: Niu et al. 2024 (RAGTruth), section 5.1.
    """
    scores = needed(study.frames, "detectors", [*_KEY, *_COUNTS], key=_KEY)
    parts = scores.groupby(["run_id", "protocol", "level"], sort=False)
    rows = [row for _, part in parts for row in _part_rows(part)]
    notes = notes_for(
        study.provenance,
        "all: every response with a verdict; good-only: those whose quality is known to be good",
        "span level counts characters, overlapping spans merged; macro: mean of the tasks' F1",
        "scores hold for the responses at hand; only on the complete test set are they RAGTruth's",
    )
    return Table(
        "detector_scores", "Scores of the detector run", table_frame(rows), _COLUMNS, notes
    )


def _part_rows(part: pd.DataFrame) -> Iterator[ScoreRow]:
    rows = [_score_row(record) for record in part.to_dict("records")]
    yield from rows
    by_task = [row for row in rows if row.group != "pooled"]
    f1s = [row.f1 for row in by_task if row.f1 is not None]
    # One undefined F1 leaves the mean undefined: it is not a mean of the others.
    macro = sum(f1s, Fraction(0)) / len(f1s) if f1s and len(f1s) == len(by_task) else None
    yield rows[0]._replace(
        group="macro",
        n_responses=sum(row.n_responses for row in by_task),
        tp=None,
        fp=None,
        fn=None,
        tn=None,
        precision=None,
        recall=None,
        f1=macro,
    )


def _score_row(record: dict[Hashable, Any]) -> ScoreRow:
    tp, fp, fn, tn = (int(record[name]) for name in ("tp", "fp", "fn", "tn"))
    return ScoreRow(
        run_id=record["run_id"],
        protocol=record["protocol"],
        level=record["level"],
        group=record["group"],
        n_responses=int(record["n_responses"]),
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        precision=proportion(tp, tp + fp),
        recall=proportion(tp, tp + fn),
        f1=proportion(2 * tp, 2 * tp + fp + fn),
    )
