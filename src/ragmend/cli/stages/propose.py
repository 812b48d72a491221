"""Stage `propose`: candidates for unsupported claims, gated and verified again (pass 2)."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.cli.backends import make_rewriter, make_verifier, rewriter_entry, verifier_entry
from ragmend.cli.context import Context, Outcome, Stage, run_inputs
from ragmend.cli.data import Population, read_population
from ragmend.cli.faults import faults_inputs, faulty_records
from ragmend.cli.journaling import Unit, answer_units
from ragmend.config import Config
from ragmend.io import read_records, write_records
from ragmend.paths import manifest_path
from ragmend.records import Candidate, Claim, Evidence, Verdict, by_record
from ragmend.repair.arms import is_eligible
from ragmend.repair.candidates import Roles, propose_candidates


class Recorded(NamedTuple):
    """What earlier stages recorded, by record."""

    claims: dict[str, list[Claim]]
    evidence: dict[str, list[Evidence]]
    eligible: frozenset[str]


def _execute(context: Context) -> Outcome:
    config, paths = context.config, context.paths
    population = read_population(paths)
    excluded = faulty_records(paths.verdicts.parent)
    threshold = config.verifier.threshold
    recorded = Recorded(
        claims=by_record(read_records(paths.claims, Claim)),
        evidence=by_record(read_records(paths.evidence, Evidence)),
        eligible=frozenset(
            v.claim_id for v in read_records(paths.verdicts, Verdict) if is_eligible(v, threshold)
        ),
    )
    roles = Roles(
        verifier=make_verifier(config),
        rewriter=make_rewriter(),
        threshold=threshold,
        verify_edit=config.verifier.verify_edit,
    )
    n_units = len(population.responses) - len(excluded)
    answers = answer_units(
        _units(population, recorded, roles, _settings(config), excluded),
        model=Candidate,
        stage="propose",
        folder=paths.candidates.parent,
        n_units=n_units,
    )
    write_records(paths.candidates, answers.records)
    models = {"verifier": roles.verifier.name, "rewriter": roles.rewriter.name}
    counts = {"eligible": len(recorded.eligible), **_count(answers.records)}
    return Outcome(
        (paths.candidates,), counts, models, n_units=n_units, faults=tuple(answers.faults)
    )


def _units(
    population: Population,
    recorded: Recorded,
    roles: Roles,
    identity: Mapping[str, JsonValue],
    excluded: frozenset[str],
) -> Iterator[Unit[Candidate]]:
    for response in population.responses:
        if response.record_id in excluded:
            continue
        claims = recorded.claims.get(response.record_id, [])
        evidence = recorded.evidence.get(response.record_id, [])
        source = population.source_of(response)
        eligible = [claim.claim_id for claim in claims if claim.claim_id in recorded.eligible]
        request: dict[str, JsonValue] = {
            "settings": dict(identity),
            "source": source.model_dump(mode="json"),
            "answer": response.text,
            "claims": [claim.model_dump(mode="json") for claim in claims],
            "evidence": [row.model_dump(mode="json") for row in evidence],
            "eligible": list(eligible),
        }
        compute = partial(
            propose_candidates,
            source,
            response.text,
            claims,
            evidence=evidence,
            eligible=frozenset(eligible),
            roles=roles,
        )
        yield Unit(response.record_id, request, compute)


def _count(candidates: list[Candidate]) -> dict[str, JsonValue]:
    counts: dict[str, JsonValue] = {}
    for kind in ("extract", "rewrite"):
        of_kind = [candidate for candidate in candidates if candidate.kind == kind]
        counts[f"{kind}_proposed"] = len(of_kind)
        counts[f"{kind}_accepted"] = sum(candidate.accepted for candidate in of_kind)
    return counts


def _inputs(context: Context) -> dict[str, Path]:
    paths = context.paths
    files = (paths.population, paths.sources, paths.claims, paths.evidence, paths.verdicts)
    return run_inputs(context, *files) | faults_inputs(context, paths.verdicts.parent)


def _settings(config: Config) -> dict[str, JsonValue]:
    return {
        "verifier": verifier_entry(config),
        "rewriter": rewriter_entry(config),
        "verifier.threshold": config.verifier.threshold,
        "verifier.verify_edit": config.verifier.verify_edit,
    }


PROPOSE = Stage(
    name="propose",
    manifest=lambda context: manifest_path(context.paths.candidates),
    inputs=_inputs,
    settings=_settings,
    execute=_execute,
)
