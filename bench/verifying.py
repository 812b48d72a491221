"""The path of the stage `verify` with a language model behind a server, as a benchmark drives it.

It is the stage's own: units answered and recorded in its journal, the prompted verifier with its
checks and its length policy, the journal of the model's answers, the client. The claims are those
of the built-in answers. Each edition of them is about sources of its own, so that neither a
journal nor a server's cache knows them from the edition before.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple

from pydantic import JsonValue

from bench.corpus import repeated_demo
from ragmend.cli.asking import Asking, Unit, asking
from ragmend.cli.context import Context
from ragmend.cli.roles.identities import prompt_entries, verifier_entry
from ragmend.cli.roles.parts import open_verifier
from ragmend.config import Config, load_config
from ragmend.errors import ServerError
from ragmend.llm.fitting import source_text
from ragmend.llm.protocol import Prompt
from ragmend.llm.server.model import ServerModel
from ragmend.manifest import current_environment
from ragmend.paths import RunPaths
from ragmend.records import Claim, Response, Source, Verdict
from ragmend.repair.prompted.verifier import verify_prompt
from ragmend.repair.splitting.claims import split_claims
from ragmend.repair.verification import Verifier


class Asked(NamedTuple):
    """One unit of work: claims of an answer, all different from those of its source's others."""

    response: Response
    source: Source
    claims: list[Claim]

    def prompts(self) -> list[Prompt]:
        """Return what a model is asked: nothing of a source is left out."""
        text = source_text(self.source)
        return [verify_prompt().render(source=text, claim=claim.text) for claim in self.claims]


class Pass(NamedTuple):
    """What answering some units took.

    Attributes:
        n_requests: Questions that the model answered.
        seconds: By the wall clock.
        cpu_s: Of this process, in which no server runs.
    """

    n_requests: int
    seconds: float
    cpu_s: float

    @property
    def requests_a_second(self) -> float:
        """How fast it was."""
        return self.n_requests / self.seconds

    @property
    def cpu_ms_a_request(self) -> float:
        """What a request costs this process."""
        return 1000 * self.cpu_s / self.n_requests


class VerifyPath(NamedTuple):
    """A verifier behind a server, and the stage that asks it."""

    config: Config
    stage: Asking
    verifier: Verifier
    server: ServerModel

    async def verify(self, work: Sequence[Asked]) -> Pass:
        """Verify all claims, in order.

        Raises:
            ServerError: A question had no usable answer, or was not asked: no figure, then.
        """
        n_before, wall, cpu = self.server.usage.n_requests, perf_counter(), process_time()
        answers = await self.stage.answer(self._units(work), model=Verdict, n_units=len(work))
        seconds, cpu_s = perf_counter() - wall, process_time() - cpu
        n_requests = self.server.usage.n_requests - n_before
        n_claims = sum(len(asked.claims) for asked in work)
        if answers.faults:
            fault = answers.faults[0]
            raise ServerError(f"{len(answers.faults)} answers failed, the first: {fault.message}")
        if n_requests != n_claims:
            raise ServerError(f"{n_claims} claims, but {n_requests} requests")
        return Pass(n_requests, seconds, cpu_s)

    def _units(self, work: Sequence[Asked]) -> Iterator[Unit[Verdict]]:
        identity, prompt = verifier_entry(self.config), prompt_entries(self.config)["verifier"]
        for response, source, claims in work:
            request: dict[str, JsonValue] = {
                "verifier": identity,
                "prompt": prompt,
                "source": source.model_dump(mode="json"),
                "answer": response.text,
                "claims": [claim.model_dump(mode="json") for claim in claims],
            }
            compute = partial(self.verifier.verify, source, response.text, claims, [])
            yield Unit(response.record_id, response.source_id, request, compute)


@asynccontextmanager
async def open_verify_path(url: str, model: str, **client: int) -> AsyncIterator[VerifyPath]:
    """Open the verifier on a server as the stage does, in a run folder that is thrown away.

    Args:
        url: The server's.
        model: What the server calls its model.
        **client: Settings of `[client]` other than the shipped ones.

    Raises:
        ServerError: The server is not there, or cannot score labels.
    """
    config = load_config(
        "demo",
        [
            "verifier.backend=openai",
            f"verifier.model={{id='{model}'}}",
            "verifier.scoring=all-forms",
            "verifier.min_candidate_mass=0.0",  # the model may be a random one
            f"servers.verifier='{url}'",
            *(f"client.{name}={value}" for name, value in client.items()),
        ],
    )
    with TemporaryDirectory() as folder:
        context = Context(config, RunPaths(Path(folder)), current_environment())
        shards = context.paths.verdicts.parent
        shards.mkdir(parents=True, exist_ok=True)
        with asking("verify", shards, config.client) as stage:
            async with open_verifier(context, shards) as handle:
                await handle.open()
                serving = None if handle.model is None else handle.model.serving
                if not isinstance(serving, ServerModel):
                    raise TypeError(f"{serving} is no server")
                yield VerifyPath(config, stage, handle.part, serving)


def claims_to_ask(edition: str) -> list[Asked]:
    """Return all claims of the built-in answers, about sources that say which edition they are."""
    corpus = repeated_demo(1)
    sources = {key: _as_edition(source, edition) for key, source in corpus.sources.items()}
    seen: set[tuple[str, str]] = set()
    work = []
    for response in corpus.responses:
        claims = split_claims(response.text, record_id=response.record_id)
        new = {
            claim.text: claim for claim in claims if (response.source_id, claim.text) not in seen
        }
        seen |= {(response.source_id, text) for text in new}
        named = response.model_copy(update={"record_id": f"{response.record_id}-{edition}"})
        work.append(Asked(named, sources[response.source_id], _of(named, new.values())))
    return work


def first_claims(edition: str, n_claims: int) -> list[Asked]:
    """Return so many claims, of as many editions as that takes."""
    editions = (claims_to_ask(f"{edition}-{number}") for number in count())
    each = chain.from_iterable(one_by_one(work) for work in editions)
    taken: list[Asked] = []
    for asked in islice(each, n_claims):
        if taken and taken[-1].response == asked.response:
            taken[-1].claims.extend(asked.claims)
        else:
            taken.append(asked)
    return taken


def one_by_one(work: Sequence[Asked]) -> list[Asked]:
    """Return the same claims, each a unit of its own."""
    return [asked._replace(claims=[claim]) for asked in work for claim in asked.claims]


def _as_edition(source: Source, edition: str) -> Source:
    """Return a source that begins with other tokens, so that no prefix is known."""
    if source.fields is not None:
        return source.model_copy(update={"fields": {"edition": edition, **source.fields}})
    return source.model_copy(update={"text": f"Edition {edition}. {source.text}"})


def _of(response: Response, claims: Iterable[Claim]) -> list[Claim]:
    return [claim.model_copy(update={"record_id": response.record_id}) for claim in claims]
