"""Stage `assemble`: every arm's repaired answers, from recorded answers only."""

from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.context import Context, Outcome, Stage, run_inputs
from ragmend.cli.data import read_population
from ragmend.cli.faults import faults_inputs, faulty_records
from ragmend.config import Config
from ragmend.errors import FaultError, LookupMissError
from ragmend.io import read_records, write_records
from ragmend.paths import manifest_path
from ragmend.records import (
    ARMS,
    DANGLING,
    Action,
    Candidate,
    Claim,
    RepairedAnswer,
    Verdict,
    by_record,
)
from ragmend.repair.arms import missing_verdicts, record_answers
from ragmend.repair.assembling.repaired import check_reconstruction, repair_record


def _execute(context: Context) -> Outcome:
    config, paths = context.config, context.paths
    population = read_population(paths)
    excluded = faulty_records(paths.verdicts.parent, paths.candidates.parent)
    claims = by_record(read_records(paths.claims, Claim))
    verdicts = by_record(read_records(paths.verdicts, Verdict))
    candidates = by_record(read_records(paths.candidates, Candidate))
    actions: list[Action] = []
    answers: list[RepairedAnswer] = []
    n_lookups = 0
    kept = [r for r in population.responses if r.record_id not in excluded]
    if not kept:
        raise FaultError("no record is left: every answer of the population is faulty")
    recorded = {
        r.record_id: record_answers(verdicts.get(r.record_id, []), candidates.get(r.record_id, []))
        for r in kept
    }
    misses = [
        claim_id
        for key, answered in recorded.items()
        for claim_id in missing_verdicts(claims.get(key, []), answered, config.claims.verify)
    ]
    if misses:
        raise LookupMissError(f"{len(misses)} claims have no verdict, the first is {misses[0]}")
    for response in kept:
        repaired = repair_record(
            response,
            claims.get(response.record_id, []),
            recorded[response.record_id],
            threshold=config.verifier.threshold,
            verify=config.claims.verify,
        )
        actions += repaired.actions
        answers += repaired.answers
        n_lookups += repaired.n_lookups
    write_records(paths.actions, actions)
    write_records(paths.answers, answers)
    # What was saved is checked, not what is in memory: it is what later readers have.
    check_reconstruction(
        kept,
        claims,
        list(read_records(paths.actions, Action)),
        list(read_records(paths.answers, RepairedAnswer)),
    )
    counts: dict[str, JsonValue] = {
        "records": len(kept),
        "excluded_faulty": len(excluded),
        "answers": len(answers),
        "lookups": n_lookups,
        "misses": len(misses),
        "writes": len(actions) + len(answers),
        **_count_malformed(answers),
    }
    return Outcome((paths.actions, paths.answers), counts)


def _count_malformed(answers: list[RepairedAnswer]) -> dict[str, JsonValue]:
    """Count for each arm the answers that repair left less well formed than they were."""
    return {
        f"malformed_{arm}": sum(
            any(kind != DANGLING for kind in answer.findings)
            for answer in answers
            if answer.condition == arm
        )
        for arm in ARMS
    }


def _inputs(context: Context) -> dict[str, Path]:
    paths = context.paths
    files = (paths.population, paths.claims, paths.verdicts, paths.candidates)
    folders = (paths.verdicts.parent, paths.candidates.parent)
    return run_inputs(context, *files) | faults_inputs(context, *folders)


def _settings(config: Config) -> dict[str, JsonValue]:
    return {
        "verifier.threshold": config.verifier.threshold,
        "claims.verify": config.claims.verify,
    }


ASSEMBLE = Stage(
    name="assemble",
    manifest=lambda context: manifest_path(context.paths.actions),
    inputs=_inputs,
    settings=_settings,
    execute=_execute,
)
