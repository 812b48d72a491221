"""Stage `match`: the source fragments that speak about each claim."""

from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.context import Context, Outcome, Stage, run_inputs
from ragmend.cli.data import read_population
from ragmend.io import read_records, write_records
from ragmend.paths import manifest_path
from ragmend.records import Claim, by_record
from ragmend.repair.evidence import match_evidence


def _execute(context: Context) -> Outcome:
    paths, evidence_config = context.paths, context.config.evidence
    top_k, window = evidence_config.top_k, evidence_config.window
    population = read_population(paths)
    claims = by_record(read_records(paths.claims, Claim))
    by_source: dict[str, list[Claim]] = {}
    for response in population.responses:
        by_source.setdefault(response.source_id, []).extend(claims.get(response.record_id, []))
    # All claims of a source are matched at once: its index is built once.
    evidence = [
        row
        for source_id, of_source in by_source.items()
        for row in match_evidence(
            population.sources[source_id], of_source, top_k=top_k, window=window
        )
    ]
    write_records(paths.evidence, evidence)
    n_claims = sum(map(len, by_source.values()))
    counts: dict[str, JsonValue] = {
        "claims": n_claims,
        "evidence": len(evidence),
        "claims_without_evidence": n_claims - len({row.claim_id for row in evidence}),
    }
    return Outcome((paths.evidence,), counts)


def _inputs(context: Context) -> dict[str, Path]:
    paths = context.paths
    return run_inputs(context, paths.population, paths.sources, paths.claims)


MATCH = Stage(
    name="match",
    manifest=lambda context: manifest_path(context.paths.evidence),
    inputs=_inputs,
    settings=lambda config: {
        "evidence.top_k": config.evidence.top_k,
        "evidence.window": config.evidence.window,
    },
    execute=_execute,
)
