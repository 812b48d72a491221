"""Embedded verifier and rewriter in their roles: they answer at once and see no whole answer."""

from collections.abc import Sequence
from typing import NamedTuple

from ragmend.llm.labels import Support
from ragmend.records import Claim, Evidence, Rewrite, Source, Verdict
from ragmend.repair.candidates import says_something_of_its_source
from ragmend.repair.lexical.verifier import LexicalVerifier
from ragmend.repair.rewriting.rewriter import LexicalRewriter


class EmbeddedVerifier(NamedTuple):
    """The verifier's role, played by fitted curves."""

    lexical: LexicalVerifier

    @property
    def name(self) -> str:
        """The name that stands in verdicts and tables."""
        return self.lexical.name

    async def verify(
        self, source: Source, answer: str, claims: Sequence[Claim], evidence: Sequence[Evidence]
    ) -> list[Verdict]:
        """Return one verdict a claim, in order."""
        return self.lexical.verify(source, claims, evidence)

    async def score_texts(self, source: Source, answer: str, texts: Sequence[str]) -> list[Support]:
        """Return how far each text is supported, in order."""
        return [Support(score) for score in self.lexical.score_texts(source, texts)]


class EmbeddedRewriter(NamedTuple):
    """The rewriter's role, played by cuts; what is no statement of its source it leaves alone."""

    lexical: LexicalRewriter

    @property
    def name(self) -> str:
        """The name that stands in tables."""
        return self.lexical.name

    async def rewrite(
        self, source: Source, answer: str, claim: Claim, evidence: Sequence[Evidence]
    ) -> Rewrite:
        """Return what is left of a claim when all that is unsupported is cut out."""
        is_tried = says_something_of_its_source(claim)
        text = self.lexical.rewrite(source, claim, evidence) if is_tried else None
        return Rewrite(
            record_id=claim.record_id, claim_id=claim.claim_id, text=text, model=self.name
        )
