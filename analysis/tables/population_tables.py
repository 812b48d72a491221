"""The selection table: how the detector run that defines the population did."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.inputs.frames import needed, require_columns
from ragmend.analysis.inputs.runs import DetectorRun
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, round_half_up, table_frame
from ragmend.analysis.study import Study
from ragmend.analysis.tables.seed_tables import unscored_note
from ragmend.records import TASKS
from ragmend.scoring import Score, score_responses

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (
    Column("label", "quantity", "text"),
    Column("value", "count", "count"),
    Column("of", "of", "count"),
    Column("pct", "%", "decimal", 1),
)


_ORDINALS = (
    "best", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip


class SelectionRow(NamedTuple):
    """One quantity: a count, what it is a part of, and its share."""

    quantity: str
    label: str
    value: int | None
    of: int | None
    pct: Fraction | None


def selection_table(study: Study) -> Table:
    """Score the flags against gold, and describe what was flagged.

    Args:
        study: Its selection: response_id, gold (0/1 or NA), flagged (0/1) and perhaps
            verdict, one row a response of the evaluated split; and, if there, its records
            for the task mix of the population, and its runs for the rank of the one that
            flagged it.

    Source: arXiv 2608.29307, sections 4 and 10.
    """
    selection = needed(
        study.frames, "selection", ["response_id", "gold", "flagged"], key=["response_id"]
    )
    annotated = selection[selection["gold"].notna()]
    rank = _population_rank(study)
    rows = [
        *_flag_rows(selection),
        *_score_rows(annotated),
        *_mix_rows(study.frames.records),
        *_verdict_rows(selection),
        *_rank_rows(rank),
    ]
    notes = notes_for(
        study.provenance,
        "positives: responses with at least one gold span; empty and unparsed detector answers "
        "count as not flagged",
        _gold_note(len(selection) - len(annotated), len(selection)),
        None if "verdict" in selection else "detector verdicts: not in this input",
        None if rank is None else _rank_note(rank),
        None if rank is None else unscored_note(study.unscored),
    )
    title = "Selection: what the detector flagged, against gold"
    return Table("selection", title, table_frame(rows), _COLUMNS, notes)


def _flag_rows(selection: pd.DataFrame) -> Iterator[SelectionRow]:
    n, flagged = len(selection), int(selection["flagged"].sum())
    yield _plain("n", "responses", n)
    yield _share("flagged", "flagged (flag rate)", flagged, n)
    yield _share("unflagged", "not flagged", n - flagged, n)


def _score_rows(annotated: pd.DataFrame) -> Iterator[SelectionRow]:
    score = score_responses(
        list(annotated["gold"].astype(bool)), list(annotated["flagged"].astype(bool))
    )
    if annotated.empty:
        yield from _undefined_score_rows()
        return
    yield _plain("TP", "true positives (TP)", score.tp)
    yield _plain("FP", "false positives (FP)", score.fp)
    yield _plain("FN", "false negatives (FN)", score.fn)
    yield _plain("TN", "true negatives (TN)", score.tn)
    yield from _rate_rows(score)


def _rate_rows(score: Score) -> Iterator[SelectionRow]:
    positives, both = score.tp + score.fn, 2 * score.tp
    yield _share("base_rate", "hallucinated by gold (base rate)", positives, sum(score))
    yield _share("precision", "precision, TP / (TP + FP)", score.tp, score.tp + score.fp)
    yield _share("recall", "recall, TP / (TP + FN)", score.tp, positives)
    yield _share("F1", "F1, 2 TP / (2 TP + FP + FN)", both, both + score.fp + score.fn)


def _undefined_score_rows() -> Iterator[SelectionRow]:
    for quantity in ("TP", "FP", "FN", "TN", "base_rate", "precision", "recall", "F1"):
        yield SelectionRow(quantity, quantity.replace("_", " "), None, None, None)


def _mix_rows(records: pd.DataFrame | None) -> Iterator[SelectionRow]:
    if records is None:
        return
    require_columns(records, ["record_id", "task"], table="records")
    found = records["task"].value_counts()
    known = [task for task in TASKS if task in found.index]
    for task in (*known, *sorted(set(found.index) - set(known))):
        yield _share(f"task_{task}", f"records of task {task}", int(found[task]), len(records))


def _verdict_rows(selection: pd.DataFrame) -> Iterator[SelectionRow]:
    for verdict in ("empty", "unparsed"):
        label = f"detector answers {verdict}"
        if "verdict" in selection:
            count = int((selection["verdict"] == verdict).sum())
            yield _share(verdict, label, count, len(selection))
        else:
            yield SelectionRow(verdict, label, None, None, None)


class _Rank(NamedTuple):
    """Where the run that flagged the population stands among its model's runs, by F1."""

    run: DetectorRun
    place: int
    """1 is best; runs with the same F1 share a place."""
    of: int


def _population_rank(study: Study) -> _Rank | None:
    """Rank the population's run; None where the input does not say which run that is."""
    if not study.frames.has("runs"):
        return None
    runs = study.runs
    for run in runs:
        if run.is_population:
            own = [other for other in runs if other.model == run.model]
            place = 1 + sum(other.f1 > run.f1 for other in own)
            return _Rank(run, place, len(own))
    return None


def _rank_rows(rank: _Rank | None) -> Iterator[SelectionRow]:
    if rank is not None:
        label = "rank by F1 of the run behind the population, 1 = best, among its model's runs"
        yield SelectionRow("population_rank", label, rank.place, rank.of, None)


def _rank_note(rank: _Rank) -> str:
    ordinal = _ORDINALS[rank.place - 1] if rank.place <= len(_ORDINALS) else f"no. {rank.place}"
    f1 = round_half_up(rank.run.f1, 1)
    return (
        f"the population is what {rank.run.model} seed {rank.run.seed} flagged: {ordinal} of "
        f"{rank.of} runs of this model by F1 ({f1} %)"
    )


def _plain(quantity: str, label: str, count: int) -> SelectionRow:
    return SelectionRow(quantity, label, count, None, None)


def _share(quantity: str, label: str, count: int, of: int) -> SelectionRow:
    return SelectionRow(quantity, label, count, of, percent(count, of))


def _gold_note(n_unannotated: int, n: int) -> str | None:
    if not n_unannotated:
        return None
    if n_unannotated == n:
        return "no gold labels: scores against gold are undefined"
    return f"{n_unannotated} of {n} responses have no gold label and are left out of the scores"
