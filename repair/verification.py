"""The roles that answer about claims, whatever stands behind them.

Both are asked with the whole answer at hand: it decides which parts of a source that is too long
for a model's context are left out. They must not judge by it otherwise.
"""

from collections.abc import Sequence
from typing import Protocol

from ragmend.llm.labels import Support
from ragmend.records import Claim, Evidence, Rewrite, Source, Verdict


class Verifier(Protocol):
    """Says how far a source supports a claim or an edited text."""

    @property
    def name(self) -> str:
        """The name that stands in verdicts and tables."""

    async def verify(
        self, source: Source, answer: str, claims: Sequence[Claim], evidence: Sequence[Evidence]
    ) -> list[Verdict]:
        """Return one verdict a claim, in order.

        Raises:
            AnswerFaultError: One of them could not be had.
        """

    async def score_texts(self, source: Source, answer: str, texts: Sequence[str]) -> list[Support]:
        """Return how far each text is supported, in order (pass 2).

        Raises:
            AnswerFaultError: One of them could not be had.
        """


class Rewriter(Protocol):
    """Rewrites a claim to what the source supports."""

    @property
    def name(self) -> str:
        """The name that stands in tables."""

    async def rewrite(
        self, source: Source, answer: str, claim: Claim, evidence: Sequence[Evidence]
    ) -> Rewrite:
        """Return a text that the source should support, or that nothing is supported.

        Raises:
            AnswerFaultError: No usable answer came.
        """
