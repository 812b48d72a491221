"""`python -m bench [--json] [--only PART …]`: measure everything once and print one table.

Ratios are of one run on one machine; a figure that falls short is told and fails nothing.
"""

import subprocess
import sys
from collections.abc import Callable, Iterable

import click

from bench.claims import claim_figures, long_text_figures
from bench.client import client_figures
from bench.cluster import cluster_figures
from bench.corpus import read_corpus
from bench.coverage import coverage_figures
from bench.figures import Figure, as_json, as_text
from bench.in_process import in_process_figures
from bench.memory import memory_figures
from bench.prefix_cache import prefix_cache_figures
from bench.resume import resume_figures
from bench.statistics import statistics_figures
from ragmend.errors import RagmendError

PARTS: dict[str, Callable[[], Iterable[Figure]]] = {
    "claims": lambda: claim_figures(read_corpus()),
    "long-answers": lambda: long_text_figures(read_corpus()),
    "memory": memory_figures,
    "resume": resume_figures,
    "statistics": statistics_figures,
    "coverage": coverage_figures,
    "client": client_figures,
    "prefix-cache": prefix_cache_figures,
    "in-process": in_process_figures,
    "cluster": cluster_figures,
}

ON_CORPUS = {"claims", "long-answers"}


@click.command("bench")
@click.option("--json", "is_json", is_flag=True, help="Print a JSON list instead of a table.")
@click.option(
    "--only", "names", multiple=True, type=click.Choice(list(PARTS)), help="Measure this part."
)
def main(*, is_json: bool, names: tuple[str, ...]) -> None:
    """Measure claims, memory, running again, statistics, asking language models, a job graph."""
    figures: list[Figure] = []
    for name in names or PARTS:
        print(f"measuring: {name}", file=sys.stderr, flush=True)  # noqa: T201 - progress
        try:
            figures += PARTS[name]()
        except subprocess.CalledProcessError as error:
            raise click.ClickException(f"{name}: cannot be measured\n{error.stderr}") from error
        except RagmendError as error:
            raise click.ClickException(f"{name}: cannot be measured: {error}") from error
    if is_json:
        click.echo(as_json(figures))
        return
    if ON_CORPUS & set(names or PARTS):
        click.echo(f"{read_corpus().name}\n")
    click.echo(as_text(figures))


if __name__ == "__main__":
    main()
