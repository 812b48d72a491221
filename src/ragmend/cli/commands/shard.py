"""`ragmend shard`: parts of a stage that asks models, beside others of the same stage."""

from contextlib import nullcontext
from pathlib import Path

import click

from ragmend.cli.experiment import open_experiment
from ragmend.cli.sharding.parts import SHARDED_STAGES, ShardedStage
from ragmend.cli.sharding.runner import Wanted, run_parts, serving_parts
from ragmend.cli.stages import STAGES


@click.command("shard")
@click.argument("config")
@click.argument("stage", type=click.Choice(SHARDED_STAGES))
@click.option("--role", required=True, help="Who answers: verifier, rewriter or a judge's name.")
@click.option(
    "--shard",
    "shards",
    multiple=True,
    required=True,
    type=click.IntRange(min=0),
    help="Which share of the sources, from 0; several may be given.",
)
@click.option("--of", required=True, type=click.IntRange(min=1), help="How many shares there are.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Run folder.")
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key; KEY= unsets it."
)
@click.option("--serve", is_flag=True, help="Start the server that it needs here.")
def shard_command(
    config: str,
    stage: ShardedStage,
    role: str,
    shards: tuple[int, ...],
    of: int,
    out: Path,
    overrides: tuple[str, ...],
    serve: bool,
) -> None:
    """Answer shards of a STAGE (verify, propose, judge) with one role, as one of many processes.

    All earlier stages must be complete. When each role has answered each shard, `ragmend run
    CONFIG --only STAGE --fold` makes the stage of them. A shard that is complete is skipped; what
    was interrupted goes on where it was, and faulty answers are tried again.
    """
    context = open_experiment(config, out, overrides).context
    chosen = next(each for each in STAGES if each.name == stage)
    wanted = Wanted(role, shards, of)
    with serving_parts(context, chosen, wanted) if serve else nullcontext(context) as served:
        run_parts(served, STAGES, chosen, wanted)
