"""Stage `split`: every flagged answer becomes claims."""

from pydantic import JsonValue

from ragmend.cli.context import Context, Outcome, Stage, run_inputs
from ragmend.cli.data import read_population
from ragmend.io import write_records
from ragmend.paths import manifest_path
from ragmend.repair.splitting.claims import split_claims


def _execute(context: Context) -> Outcome:
    population = read_population(context.paths)
    claims = [
        claim
        for response in population.responses
        for claim in split_claims(response.text, record_id=response.record_id)
    ]
    write_records(context.paths.claims, claims)
    kinds = [claim.kind for claim in claims]
    counts: dict[str, JsonValue] = {"answers": len(population.responses), "claims": len(claims)}
    counts |= {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    return Outcome((context.paths.claims,), counts)


SPLIT = Stage(
    name="split",
    manifest=lambda context: manifest_path(context.paths.claims),
    inputs=lambda context: run_inputs(context, context.paths.population),
    settings=lambda config: {},
    execute=_execute,
)
