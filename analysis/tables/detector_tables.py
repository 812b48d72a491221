"""How well detectors find hallucinated responses, in the RAGTruth protocol."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, proportion, table_frame
from ragmend.analysis.study import Study
from ragmend.records import TASKS

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
_SIDE_BY_SIDE_COLUMNS = (
    Column("protocol", "protocol", "text"),
    Column("level", "level", "text"),
    Column("run_id", "run", "text"),
    Column("n_responses", "n", "count"),
    Column("precision", "precision %", "decimal", 1, scale=100),
    Column("recall", "recall %", "decimal", 1, scale=100),
    Column("f1", "F1 %", "decimal", 1, scale=100),
    *(Column(f"f1_{task}", f"F1 {task} %", "decimal", 1, scale=100) for task in TASKS),
    Column("f1_macro", "F1 macro %", "decimal", 1, scale=100),
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


def without_several_runs(study: Study) -> str | None:
    """Say that there is one run only, which has its own table."""
    several = study.frames.has("detectors") and _n_runs(study) > 1
    return None if several else "needs several runs"


def detector_scores_table(study: Study) -> Table:
    """Turn the counts of runs into precision, recall and F1, by task, pooled and macro.

    Of several runs the table is for looking up only: `detector_runs_table` shows them.

    Args:
        study: Its detectors: run_id, protocol, level, group and the counts.

    Source: Niu et al. 2024 (RAGTruth), section 5.1.
    """
    rows = [row for part in _parts(study) for row in part]
    is_one = _n_runs(study) == 1
    title = f"Scores of the detector {'run' if is_one else 'runs, by task'}"
    notes = notes_for(study.provenance, *_rules(study))
    return Table("detector_scores", title, table_frame(rows), _COLUMNS, notes, is_lookup=not is_one)


def detector_runs_table(study: Study) -> Table:
    """Set runs side by side: all responses, and the F1 of each task.

    Args:
        study: As for `detector_scores_table`.
    """
    import pandas as pd

    rows = [_side_by_side(part) for part in _parts(study)]
    order = list(dict.fromkeys((row["protocol"], row["level"]) for row in rows))
    rows.sort(key=lambda row: order.index((row["protocol"], row["level"])))
    frame = pd.DataFrame(rows, dtype=object)
    columns = tuple(column for column in _SIDE_BY_SIDE_COLUMNS if column.name in frame)
    frame = frame.astype(object).where(frame.notna(), None)
    notes = notes_for(study.provenance, *_rules(study))
    title = "Scores of the detector runs, side by side"
    return Table("detector_runs", title, frame[[c.name for c in columns]], columns, notes)


def _rules(study: Study) -> tuple[str | None, ...]:
    return (
        (
            "all: every response with a verdict, an empty or unparsed one counts as not flagged; "
            "good-only: those whose quality is known to be good; read-only: those whose verdict "
            "could be read"
        ),
        "span level counts characters, overlapping spans merged; macro: mean of the tasks' F1",
        "scores hold for the responses at hand; only on the complete test set are they RAGTruth's",
        _spanless_note(study),
    )


def _spanless_note(study: Study) -> str | None:
    """Name the runs that have no span level, where there are several."""
    scores = _scores(study)
    with_spans = set(scores.loc[scores["level"] == "span", "run_id"])
    without = [run for run in dict.fromkeys(scores["run_id"]) if run not in with_spans]
    if not without or _n_runs(study) == 1:
        return None
    return f"without a span level, for they named no span: {', '.join(without)}"


def _n_runs(study: Study) -> int:
    return int(_scores(study)["run_id"].nunique())


def _scores(study: Study) -> pd.DataFrame:
    return needed(study.frames, "detectors", [*_KEY, *_COUNTS], key=_KEY)


def _parts(study: Study) -> Iterator[list[ScoreRow]]:
    """Yield the rows of each run, protocol and level: tasks and pooled, and the macro F1 last."""
    for _, part in _scores(study).groupby(["run_id", "protocol", "level"], sort=False):
        yield list(_part_rows(part))


def _side_by_side(part: list[ScoreRow]) -> dict[str, Any]:
    of_group = {row.group: row for row in part}
    pooled, first = of_group.get("pooled"), part[0]
    return {
        "protocol": first.protocol,
        "level": first.level,
        "run_id": first.run_id,
        "n_responses": None if pooled is None else pooled.n_responses,
        "precision": None if pooled is None else pooled.precision,
        "recall": None if pooled is None else pooled.recall,
        "f1": None if pooled is None else pooled.f1,
        **{f"f1_{task}": of_group[task].f1 for task in TASKS if task in of_group},
        "f1_macro": of_group["macro"].f1,
    }


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
