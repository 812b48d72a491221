"""Stage `verify` (pass 1): how far the source supports each claim."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.backends import make_verifier, verifier_entry
from ragmend.cli.context import Context, Outcome, Stage, run_inputs
from ragmend.cli.data import Population, read_population
from ragmend.cli.journaling import Unit, answer_units
from ragmend.config import Config
from ragmend.errors import AccountingError
from ragmend.io import read_records, write_records
from ragmend.paths import manifest_path
from ragmend.records import Claim, Evidence, Verdict, by_record
from ragmend.repair.arms import is_verified
from ragmend.repair.verification import Verifier


def _execute(context: Context) -> Outcome:
    config, paths = context.config, context.paths
    population = read_population(paths)
    verify = config.claims.verify
    claims = by_record(c for c in read_records(paths.claims, Claim) if is_verified(c.kind, verify))
    evidence = by_record(read_records(paths.evidence, Evidence))
    verifier = make_verifier(config)
    answers = answer_units(
        _units(population, claims, evidence, verifier, verifier_entry(config)),
        model=Verdict,
        stage="verify",
        folder=paths.verdicts.parent,
        n_units=len(population.responses),
    )
    _check_one_verdict_a_claim(answers.records, claims, {f.record_id for f in answers.faults})
    write_records(paths.verdicts, answers.records)
    counts: dict[str, JsonValue] = {
        "claims": sum(map(len, claims.values())),
        "verdicts": len(answers.records),
    }
    return Outcome(
        (paths.verdicts,),
        counts,
        {"verifier": verifier.name},
        n_units=len(population.responses),
        faults=tuple(answers.faults),
    )


def _units(
    population: Population,
    claims: dict[str, list[Claim]],
    evidence: dict[str, list[Evidence]],
    verifier: Verifier,
    identity: JsonValue,
) -> Iterator[Unit[Verdict]]:
    for response in population.responses:
        own_claims = claims.get(response.record_id, [])
        own_evidence = evidence.get(response.record_id, [])
        source = population.source_of(response)
        request: dict[str, JsonValue] = {
            "verifier": identity,
            "source": source.model_dump(mode="json"),
            "claims": [claim.model_dump(mode="json") for claim in own_claims],
            "evidence": [row.model_dump(mode="json") for row in own_evidence],
        }
        compute = partial(verifier.verify, source, own_claims, own_evidence)
        yield Unit(response.record_id, request, compute)


def _check_one_verdict_a_claim(
    verdicts: list[Verdict], claims: dict[str, list[Claim]], faulty: set[str]
) -> None:
    expected = [c.claim_id for r, own in claims.items() if r not in faulty for c in own]
    if sorted(expected) != sorted(verdict.claim_id for verdict in verdicts):
        raise AccountingError(f"{len(expected)} claims to verify but {len(verdicts)} verdicts")


def _inputs(context: Context) -> dict[str, Path]:
    paths = context.paths
    return run_inputs(context, paths.population, paths.sources, paths.claims, paths.evidence)


def _settings(config: Config) -> dict[str, JsonValue]:
    return {"claims.verify": config.claims.verify, "verifier": verifier_entry(config)}


VERIFY = Stage(
    name="verify",
    manifest=lambda context: manifest_path(context.paths.verdicts),
    inputs=_inputs,
    settings=_settings,
    execute=_execute,
)
