"""The records of a run: files as their manifests say, keys unique, texts made of saved actions."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.context import Context, Stage
from ragmend.cli.data import read_population
from ragmend.cli.doctor.findings import Finding, check, examine, failure, unchecked
from ragmend.cli.engine import inspect_stage
from ragmend.cli.faults import faulty_records
from ragmend.cli.stages import STAGES
from ragmend.errors import DataError, RunStateError
from ragmend.io import read_records
from ragmend.manifest import State
from ragmend.paths import RunPaths, manifest_path
from ragmend.records import (
    Action,
    Candidate,
    Claim,
    Evidence,
    Judgement,
    Record,
    RepairedAnswer,
    Response,
    Rewrite,
    Selected,
    Source,
    Verdict,
    by_record,
)
from ragmend.repair.assembling.repaired import check_reconstruction


class _Keyed(NamedTuple):
    """A file of records, and the fields of which no two records share all."""

    path: Path
    model: type[Record]
    key: tuple[str, ...]


def check_records(context: Context) -> Iterator[Finding]:
    """Check what a run has on disk; what is not complete is named, and is no failure."""
    for stage in STAGES:
        yield _check_stage(stage, context)
    for keyed in _files(context.paths):
        name = f"keys of {keyed.path.stem}"
        if manifest_path(keyed.path).is_file():
            yield check(name, lambda file=keyed: _check_keys(file))  # type: ignore[misc]
        else:
            yield unchecked(name, "its stage is not complete")
    if manifest_path(context.paths.answers).is_file():
        yield check("repaired texts", lambda: _check_texts(context))
    else:
        yield unchecked("repaired texts", "stage assemble is not complete")


def _check_stage(stage: Stage, context: Context) -> Finding:
    name = f"stage {stage.name}"
    examined = examine(name, lambda: inspect_stage(stage, context), _describe)
    state = examined.value
    if state is None or state.kind == "complete":
        return examined.finding
    if state.kind == "absent":
        return unchecked(name, "it is not complete")
    reasons = "; ".join(state.reasons)
    advice = f"`ragmend run … --redo {stage.name}` does it again"
    return failure(name, RunStateError(f"{state.kind}: {reasons}: {advice}"))


def _describe(state: State) -> str:
    return f"{0 if state.manifest is None else len(state.manifest.outputs)} files as recorded"


def _files(paths: RunPaths) -> tuple[_Keyed, ...]:
    claim = ("record_id", "claim_id")
    return (
        _Keyed(paths.selection, Selected, ("record_id",)),
        _Keyed(paths.population, Response, ("record_id",)),
        _Keyed(paths.sources, Source, ("source_id",)),
        _Keyed(paths.claims, Claim, ("claim_id",)),
        _Keyed(paths.evidence, Evidence, (*claim, "rank")),
        _Keyed(paths.verdicts, Verdict, claim),
        _Keyed(paths.rewrites, Rewrite, claim),
        _Keyed(paths.candidates, Candidate, (*claim, "kind")),
        _Keyed(paths.actions, Action, (*claim, "arm")),
        _Keyed(paths.answers, RepairedAnswer, ("record_id", "condition")),
        _Keyed(paths.judgements, Judgement, ("record_id", "condition", "judge")),
    )


def _check_keys(file: _Keyed) -> str:
    seen: set[tuple[object, ...]] = set()
    for record in read_records(file.path, file.model):
        key = tuple(getattr(record, field) for field in file.key)
        if key in seen:
            said = ", ".join(map(str, key))
            raise DataError(f"{file.path}: {' + '.join(file.key)} {said} appears twice")
        seen.add(key)
    return f"{len(seen):,}, each {' + '.join(file.key)} once"


def _check_texts(context: Context) -> str:
    paths = context.paths
    excluded = faulty_records(paths.verdicts.parent, paths.candidates.parent)
    population = read_population(paths).responses
    answers = list(read_records(paths.answers, RepairedAnswer))
    check_reconstruction(
        [response for response in population if response.record_id not in excluded],
        by_record(read_records(paths.claims, Claim)),
        list(read_records(paths.actions, Action)),
        answers,
    )
    return f"{len(answers):,}, each as its saved actions give it"
