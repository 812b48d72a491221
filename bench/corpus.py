"""The answers that the benchmarks work on: flagged real ones, or the built-in ones repeated."""

import os
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ragmend.cli.data import read_data, read_population
from ragmend.cli.experiment import open_experiment
from ragmend.config import load_config
from ragmend.records import Claim, Response, Source
from ragmend.repair.splitting.claims import split_claims

N_TURNS = 20  # of the built-in answers; a quarter of them are whole turns too


class Corpus(NamedTuple):
    """Answers with their sources, and where they come from.

    `blocks` are what parts are made of, so that they are alike in kind: whole turns of the
    built-in answers, or all answers of one real source.
    """

    name: str
    blocks: tuple[tuple[Response, ...], ...]
    sources: dict[str, Source]

    @property
    def responses(self) -> tuple[Response, ...]:
        """All answers, block by block."""
        return tuple(chain.from_iterable(self.blocks))

    def every(self, step: int) -> "Corpus":
        """Return one block of so many."""
        return self._replace(blocks=self.blocks[::step])


class SourceClaims(NamedTuple):
    """A source and all claims of its answers."""

    source: Source
    claims: list[Claim]


@cache
def read_corpus() -> Corpus:
    """Return the answers that the detector flagged under RAGMEND_DATA, or the built-in ones."""
    return _flagged() if os.environ.get("RAGMEND_DATA") else repeated_demo(N_TURNS)


def repeated_demo(n_turns: int) -> Corpus:
    """Return the built-in answers so many times; each turn has ids and sources of its own."""
    data = read_data(load_config("demo"))
    blocks = tuple(
        tuple(
            response.model_copy(update=_ids_of_turn(response, turn)) for response in data.responses
        )
        for turn in range(n_turns)
    )
    sources = {
        f"{key}-{turn}": source.model_copy(update={"source_id": f"{key}-{turn}"})
        for turn in range(n_turns)
        for key, source in data.sources.items()
    }
    n_answers = n_turns * len(data.responses)
    return Corpus(f"built-in answers repeated to {n_answers:,}", blocks, sources)


def split_all(corpus: Corpus) -> list[SourceClaims]:
    """Split every answer; return the claims by source."""
    by_source: dict[str, list[Claim]] = {}
    for response in corpus.responses:
        claims = split_claims(response.text, record_id=response.record_id)
        by_source.setdefault(response.source_id, []).extend(claims)
    return [SourceClaims(corpus.sources[key], claims) for key, claims in by_source.items()]


def _flagged() -> Corpus:
    with TemporaryDirectory() as folder:
        experiment = open_experiment("ragtruth-cpu", Path(folder) / "run")
        experiment.run(only="detect")
        experiment.run(only="select")
        population = read_population(experiment.context.paths)
    of_source: dict[str, list[Response]] = {}
    for response in population.responses:
        of_source.setdefault(response.source_id, []).append(response)
    blocks = tuple(map(tuple, of_source.values()))
    return Corpus(f"{len(population.responses):,} flagged answers", blocks, population.sources)


def _ids_of_turn(response: Response, turn: int) -> dict[str, str]:
    return {
        "record_id": f"{response.record_id}-{turn}",
        "source_id": f"{response.source_id}-{turn}",
    }
