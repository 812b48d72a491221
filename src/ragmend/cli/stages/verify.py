"""Stage `verify` (pass 1): how far the source supports each claim."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.cli.asking import Answers, Asking, Unit, asking
from ragmend.cli.context import Context, Outcome, PartOutcome, Stage, run_inputs
from ragmend.cli.data import Population, by_source, own_records, read_population
from ragmend.cli.event_loop import run_to_end
from ragmend.cli.roles.identities import prompt_entries, verifier_entry
from ragmend.cli.roles.parts import Handle, open_verifier
from ragmend.cli.sharding.journals import journals_of
from ragmend.cli.shortened import list_shortened, shortened_of
from ragmend.config import Config
from ragmend.errors import AccountingError
from ragmend.io import write_records
from ragmend.paths import manifest_path
from ragmend.records import Claim, Evidence, Verdict, by_record
from ragmend.repair.arms import is_verified
from ragmend.repair.verification import Verifier


class Recorded(NamedTuple):
    """What earlier stages recorded, by record."""

    claims: dict[str, list[Claim]]
    evidence: dict[str, list[Evidence]]


def _execute(context: Context) -> Outcome:
    paths, folder = context.paths, context.paths.verdicts.parent
    population = read_population(paths)
    recorded = _read_recorded(context, population)
    settled = None if context.fold is None else context.fold.faults()
    journals = journals_of(context, folder)
    with asking("verify", folder, context.config.client, journals=journals, settled=settled) as on:
        answers, handle = run_to_end(partial(_verify, context, on, population, recorded))
    _check_one_verdict_a_claim(
        answers.records, recorded.claims, {fault.record_id for fault in answers.faults}
    )
    write_records(paths.verdicts, answers.records)
    shortened = list_shortened(paths.verdicts.parent, map(shortened_of, answers.records))
    counts: dict[str, JsonValue] = {
        "claims": sum(map(len, recorded.claims.values())),
        "verdicts": len(answers.records),
        **shortened.counts,
    }
    return Outcome(
        (paths.verdicts, *shortened.files),
        counts,
        {"verifier": handle.part.name},
        n_units=len(population.responses),
        faults=tuple(answers.faults),
        servers=handle.facts("verifier"),
        service=handle.usage("verifier"),
    )


def _answer_part(context: Context, stage: Asking) -> PartOutcome:
    population = read_population(context.paths, context.part)
    recorded = _read_recorded(context, population)
    answers, handle = run_to_end(partial(_verify, context, stage, population, recorded))
    return PartOutcome(
        len(population.responses),
        tuple(answers.faulty),
        {"verifier": handle.part.name},
        handle.facts("verifier"),
        handle.usage("verifier"),
    )


def _read_recorded(context: Context, population: Population) -> Recorded:
    paths, verify = context.paths, context.config.claims.verify
    claims = own_records(context, population, paths.claims, Claim)
    evidence = own_records(context, population, paths.evidence, Evidence)
    return Recorded(
        by_record(claim for claim in claims if is_verified(claim.kind, verify)),
        by_record(evidence),
    )


async def _verify(
    context: Context, stage: Asking, population: Population, recorded: Recorded
) -> tuple[Answers[Verdict], Handle[Verifier]]:
    async with open_verifier(context, context.paths.verdicts.parent) as handle:
        answers = await stage.answer(
            _units(population, recorded, handle.part, context.config),
            model=Verdict,
            n_units=len(population.responses),
            prepare=handle.open,
            describe=handle.describe,
        )
    return answers, handle


def _units(
    population: Population, recorded: Recorded, verifier: Verifier, config: Config
) -> Iterator[Unit[Verdict]]:
    identity = verifier_entry(config)
    prompt = prompt_entries(config)["verifier"]
    for response in by_source(population.responses, lambda response: response.source_id):
        claims = recorded.claims.get(response.record_id, [])
        evidence = recorded.evidence.get(response.record_id, [])
        source = population.source_of(response)
        request: dict[str, JsonValue] = {
            "verifier": identity,
            "prompt": prompt,
            "source": source.model_dump(mode="json"),
            "answer": response.text,
            "claims": [claim.model_dump(mode="json") for claim in claims],
            "evidence": [row.model_dump(mode="json") for row in evidence],
        }
        compute = partial(verifier.verify, source, response.text, claims, evidence)
        yield Unit(response.record_id, response.source_id, request, compute)


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
    return {
        "claims.verify": config.claims.verify,
        "verifier": verifier_entry(config),
        "prompt": prompt_entries(config)["verifier"],
    }


VERIFY = Stage(
    name="verify",
    manifest=lambda context: manifest_path(context.paths.verdicts),
    inputs=_inputs,
    settings=_settings,
    execute=_execute,
    answer_part=_answer_part,
)
