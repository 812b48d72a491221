"""The answers that the benchmarks work on: flagged real ones, or the built-in ones repeated."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ragmend.cli.data import read_data, read_population
from ragmend.cli.experiment import open_experiment
from ragmend.config import load_config
from ragmend.records import Claim, Response, Source
from ragmend.repair.splitting.claims import split_claims

N_REPEATED = 1000


class Corpus(NamedTuple):
    """Answers with their sources, and where they come from."""

    name: str
    responses: tuple[Response, ...]
    sources: dict[str, Source]

    def every(self, step: int) -> "Corpus":
        """Return one source of so many with all its answers, so that parts are alike in kind."""
        chosen = set(list(dict.fromkeys(r.source_id for r in self.responses))[::step])
        return self._replace(responses=tuple(r for r in self.responses if r.source_id in chosen))


class SourceClaims(NamedTuple):
    """A source and all claims of its answers."""

    source: Source
    claims: list[Claim]


def read_corpus() -> Corpus:
    """Return the answers that the detector flagged under RAGMEND_DATA, or the built-in ones."""
    return _flagged() if os.environ.get("RAGMEND_DATA") else repeated_demo(N_REPEATED)


def repeated_demo(n_answers: int) -> Corpus:
    """Return so many built-in answers; each repetition has ids and sources of its own."""
    data = read_data(load_config("demo"))
    responses: list[Response] = []
    sources: dict[str, Source] = {}
    for n in range(n_answers):
        turn, place = divmod(n, len(data.responses))
        response = data.responses[place]
        ids = {
            "record_id": f"{response.record_id}-{turn}",
            "source_id": f"{response.source_id}-{turn}",
        }
        responses.append(response.model_copy(update=ids))
        source = data.sources[response.source_id]
        sources[ids["source_id"]] = source.model_copy(update={"source_id": ids["source_id"]})
    return Corpus(f"built-in answers repeated to {n_answers:,}", tuple(responses), sources)


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
    n_answers = len(population.responses)
    return Corpus(f"{n_answers:,} flagged answers", population.responses, population.sources)
