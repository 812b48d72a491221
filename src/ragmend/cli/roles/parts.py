"""Opens a role's part: embedded, or a language model with its prompt; checked in any case."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import JsonValue

from ragmend.cli.context import Context
from ragmend.cli.roles.checked import CheckedVerifier
from ragmend.cli.roles.embedded import EmbeddedRewriter, EmbeddedVerifier
from ragmend.cli.roles.identities import check_judge, verifier_parameters
from ragmend.cli.roles.models import open_model
from ragmend.cli.roles.standby import Standby, check_same
from ragmend.judges.judging import Judge
from ragmend.judges.panel import EmbeddedJudge
from ragmend.judges.prompted import PromptedJudge, read_spans
from ragmend.llm.labels import LABEL_FORMS, read_support
from ragmend.llm.protocol import Sampling
from ragmend.repair.lexical.verifier import LexicalVerifier
from ragmend.repair.prompted.rewriter import SCHEMA, PromptedRewriter, read_rewrite
from ragmend.repair.prompted.verifier import PromptedVerifier
from ragmend.repair.rewriting.rewriter import LexicalRewriter
from ragmend.repair.verification import Rewriter, Verifier
from ragmend.sections.roles import JudgeConfig

P = TypeVar("P")


class Handle(NamedTuple, Generic[P]):
    """A role's part, and the language model behind it, if one is."""

    part: P
    model: Standby | None = None
    was: JsonValue = None

    def held_to(self, was: JsonValue) -> "Handle[P]":
        """Return this, opened only if the model says of itself what it said elsewhere."""
        return self._replace(was=was)

    async def open(self) -> None:
        """Open the language model, before the part is asked; see `Standby.open`."""
        if self.model is None:
            return
        await self.model.open()
        if isinstance(self.was, dict):
            check_same(self.was, self.model.facts)

    def facts(self, role: str) -> dict[str, JsonValue]:
        """Return what the model said of itself, under its role."""
        return {} if self.model is None else {role: self.model.facts}

    def usage(self, role: str) -> dict[str, JsonValue]:
        """Return how the model was used, under its role."""
        return {} if self.model is None else {role: self.model.as_json()}

    def describe(self) -> str:
        """Say in a few words how the model is used, for progress."""
        return "" if self.model is None else self.model.describe()


@asynccontextmanager
async def open_verifier(context: Context, folder: Path) -> AsyncIterator[Handle[Verifier]]:
    """Open the verifier that the configuration names; see `open_model`."""
    config = context.config
    if config.verifier.backend == "lexical":
        lexical = LexicalVerifier(
            verifier_parameters(config),
            use_answer=config.verifier.answer_features,
            window=config.evidence.window,
            depth=config.evidence.top_k,
        )
        yield Handle(CheckedVerifier(EmbeddedVerifier(lexical)))
        return
    read = partial(
        read_support,
        scoring=config.verifier.scoring,
        min_mass=config.verifier.min_candidate_mass,
    )
    async with open_model(
        context, "verifier", folder, label_forms=LABEL_FORMS, check_scores=read
    ) as opened:
        prompted = PromptedVerifier(opened.llm, read=read)
        yield Handle(CheckedVerifier(prompted), opened.standby)


@asynccontextmanager
async def open_rewriter(context: Context, folder: Path) -> AsyncIterator[Handle[Rewriter]]:
    """Open the rewriter that the configuration names; see `open_model`."""
    rewriter = context.config.rewriter
    if rewriter.backend == "lexical":
        yield Handle(EmbeddedRewriter(LexicalRewriter()))
        return
    async with open_model(context, "rewriter", folder, check_text=read_rewrite) as opened:
        sampling = Sampling(
            max_tokens=rewriter.max_tokens,
            temperature=rewriter.temperature,
            schema=SCHEMA if rewriter.output == "json-schema" else None,
        )
        part = PromptedRewriter(opened.llm, context=rewriter.context, sampling=sampling)
        yield Handle(part, opened.standby)


@asynccontextmanager
async def open_judge(
    context: Context, judge: JudgeConfig, folder: Path
) -> AsyncIterator[Handle[Judge]]:
    """Open one judge of the panel; see `open_model`."""
    if judge.backend == "lexical":
        check_judge(judge)
        yield Handle(EmbeddedJudge(judge.name))
        return
    async with open_model(context, judge.name, folder, check_text=read_spans) as opened:
        part = PromptedJudge(llm=opened.llm, max_tokens=judge.max_tokens, output=judge.output)
        yield Handle(part, opened.standby)
