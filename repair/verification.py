"""The roles that answer about claims, whatever stands behind them."""

from collections.abc import Sequence
from typing import Protocol

from ragmend.records import Claim, Evidence, Source, Verdict


class Verifier(Protocol):
    """Says how far a source supports a claim or an edited text."""

    @property
    def name(self) -> str:
        """The name that stands in verdicts and tables."""

    def verify(
        self, source: Source, claims: Sequence[Claim], evidence: Sequence[Evidence]
    ) -> list[Verdict]:
        """Return one verdict a claim, in order.

        Raises:
            AnswerFaultError: One of them could not be had.
        """

    def score_texts(self, source: Source, texts: Sequence[str]) -> list[float]:
        """Return P(support) of each text, in order (pass 2).

        Raises:
            AnswerFaultError: One of them could not be had.
        """


class Rewriter(Protocol):
    """Rewrites a claim to what the source supports."""

    @property
    def name(self) -> str:
        """The name that stands in tables."""

    def rewrite(self, source: Source, claim: Claim, evidence: Sequence[Evidence]) -> str | None:
        """Return a text that the source should support; None: nothing is proposed.

        Raises:
            AnswerFaultError: No usable answer came.
        """
