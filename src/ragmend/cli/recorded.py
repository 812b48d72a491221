"""The records of a run as its results read them: of complete stages only, without faulty ones."""

from pathlib import Path
from typing import NamedTuple, TypeVar

from ragmend.analysis.inputs.accounting import RecordKind, RunRecords
from ragmend.cli.context import Context
from ragmend.cli.data import read_population
from ragmend.cli.detector_runs import read_detector_runs
from ragmend.cli.faults import faulty_records
from ragmend.io import read_records
from ragmend.paths import STAGE_NAMES, StageName
from ragmend.records import (
    Action,
    Candidate,
    Claim,
    DetectorScore,
    Judgement,
    RepairedAnswer,
    Rewrite,
    Selected,
    Verdict,
)
from ragmend.trained import DetectorRunFacts

K = TypeVar("K", Claim, Verdict, Rewrite, Candidate, Action, RepairedAnswer, Judgement)

_RECORDED_BY: dict[RecordKind, StageName] = {
    "selected": "select",
    "claims": "split",
    "verdicts": "verify",
    "candidates": "propose",
    "actions": "assemble",
    "answers": "assemble",
    "judgements": "judge",
}


class Recorded(NamedTuple):
    """What of a run is complete: its stages, and all that is known of its trained detectors.

    With a stage all before it are in `stages`, too.
    """

    stages: frozenset[StageName]
    runs: tuple[DetectorRunFacts, ...]


def everything(context: Context) -> Recorded:
    """Return all of a run whose stages are complete up to its judgements.

    Raises:
        DataError, MissingInputError: As `read_detector_runs`.
    """
    runs = read_detector_runs(context.config, context.paths)
    return Recorded(frozenset(STAGE_NAMES), tuple(runs))


def read_run(context: Context, recorded: Recorded) -> RunRecords:
    """Read all records; a record with an accepted fault is left out of everything.

    Raises:
        DataError, MissingInputError: A file cannot be read.
    """
    paths, stages, runs = context.paths, recorded.stages, recorded.runs
    is_selected = "select" in stages
    selected = list(read_records(paths.selection, Selected)) if is_selected else []
    ids = population_ids(context, recorded)

    def kept(path: Path, model: type[K], stage: StageName) -> list[K]:
        return kept_records(path, model, frozenset(ids)) if stage in stages else []

    return RunRecords(
        selected=selected,
        responses=read_population(paths).responses if is_selected else (),
        tasks={row.source_id: row.task_type for row in selected},
        population=ids,
        claims=kept(paths.claims, Claim, "split"),
        verdicts=kept(paths.verdicts, Verdict, "verify"),
        candidates=kept(paths.candidates, Candidate, "propose"),
        actions=kept(paths.actions, Action, "assemble"),
        answers=kept(paths.answers, RepairedAnswer, "assemble"),
        judgements=kept(paths.judgements, Judgement, "judge"),
        judges=tuple(judge.name for judge in context.config.judges.panel),
        detector_scores=_detector_scores(context, recorded),
        detector_runs=runs,
        rewrites=kept(paths.rewrites, Rewrite, "propose") if "propose" in stages else None,
        lacks=frozenset(kind for kind, stage in _RECORDED_BY.items() if stage not in stages),
    )


def population_ids(context: Context, recorded: Recorded) -> list[str]:
    """Return the records of the population without those that have an accepted fault."""
    if "select" not in recorded.stages:
        return []
    excluded = excluded_records(context, recorded)
    responses = read_population(context.paths).responses
    return [r.record_id for r in responses if r.record_id not in excluded]


def excluded_records(context: Context, recorded: Recorded) -> frozenset[str]:
    """Return the records with an accepted fault."""
    return faulty_records(*answer_folders(context, recorded))


def answer_folders(context: Context, recorded: Recorded) -> list[Path]:
    """Return the folders of the complete stages that ask for answers."""
    paths = context.paths
    files = {"verify": paths.verdicts, "propose": paths.candidates, "judge": paths.judgements}
    return [path.parent for stage, path in files.items() if stage in recorded.stages]


def kept_records(path: Path, model: type[K], kept: frozenset[str]) -> list[K]:
    """Read the records of a file that are about some answers."""
    return [record for record in read_records(path, model) if record.record_id in kept]


def _detector_scores(context: Context, recorded: Recorded) -> list[DetectorScore]:
    if recorded.runs:
        return [score for run in recorded.runs for score in run.scores]
    if "select" not in recorded.stages:
        return []
    return list(read_records(context.paths.detector_scores, DetectorScore))
