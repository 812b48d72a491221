"""`python -m bench [--json]`: measure everything once and print one table.

Ratios are of one run on one machine; a figure that falls short is told and fails nothing.
"""

import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial

import click

from bench.claims import claim_figures, long_text_figures
from bench.corpus import read_corpus
from bench.coverage import coverage_figures
from bench.figures import Figure, as_json, as_text
from bench.memory import memory_figures
from bench.resume import resume_figures
from bench.statistics import statistics_figures


@click.command("bench")
@click.option("--json", "is_json", is_flag=True, help="Print a JSON list instead of a table.")
def main(*, is_json: bool) -> None:
    """Measure splitting and matching, memory, running again, and the statistics."""
    corpus = read_corpus()
    measures: dict[str, Callable[[], Iterable[Figure]]] = {
        corpus.name: partial(claim_figures, corpus),
        "long answers": partial(long_text_figures, corpus),
        "memory": memory_figures,
        "running again": resume_figures,
        "statistics": statistics_figures,
        "coverage of intervals": coverage_figures,
    }
    figures: list[Figure] = []
    for name, measure in measures.items():
        print(f"measuring: {name}", file=sys.stderr, flush=True)  # noqa: T201 - progress
        try:
            figures += measure()
        except subprocess.CalledProcessError as error:
            raise click.ClickException(f"{name}: cannot be measured\n{error.stderr}") from error
    click.echo(as_json(figures) if is_json else f"{corpus.name}\n\n{as_text(figures)}")


if __name__ == "__main__":
    main()
