"""What every verifier's answers are held to before they are recorded, whoever answers."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ragmend.errors import AnswerFaultError
from ragmend.records import Claim, Evidence, Source, Verdict
from ragmend.repair.verification import Verifier


class CheckedVerifier(NamedTuple):
    """A verifier whose missing, foreign or non-finite answers are faults, never decisions."""

    verifier: Verifier

    @property
    def name(self) -> str:
        """The name that stands in verdicts and tables."""
        return self.verifier.name

    def verify(
        self, source: Source, claims: Sequence[Claim], evidence: Sequence[Evidence]
    ) -> list[Verdict]:
        """Return one verdict a claim, in order.

        Raises:
            AnswerFaultError: A claim has none, or one that is not finite; or there are more.
        """
        verdicts = self.verifier.verify(source, claims, evidence)
        expected = [(claim.record_id, claim.claim_id) for claim in claims]
        found = [(verdict.record_id, verdict.claim_id) for verdict in verdicts]
        if found != expected:
            missing = [claim_id for key in expected if key not in found for claim_id in key[1:]]
            what = f"no verdict on claim {missing[0]}" if missing else "verdicts not one a claim"
            message = f"{len(found)} verdicts on {len(expected)} claims: {what}"
            raise AnswerFaultError(message, status="empty" if missing else "malformed")
        for verdict in verdicts:
            _check_finite(verdict.p_support, f"claim {verdict.claim_id}")
        return verdicts

    def score_texts(self, source: Source, texts: Sequence[str]) -> list[float]:
        """Return P(support) of each text, in order (pass 2).

        Raises:
            AnswerFaultError: A text has none, or one that is no probability.
        """
        scores = self.verifier.score_texts(source, texts)
        if len(scores) != len(texts):
            message = f"{len(scores)} scores of {len(texts)} edited texts"
            raise AnswerFaultError(
                message, status="empty" if len(scores) < len(texts) else "malformed"
            )
        for text, score in zip(texts, scores, strict=True):
            _check_finite(score, f"edited text {text!r}")
        return scores


def _check_finite(p_support: float, what: str) -> None:
    if not math.isfinite(p_support):
        message = f"{what}: P(support) is {p_support}"
        raise AnswerFaultError(message, status="non_finite", raw=str(p_support))
    if not 0.0 <= p_support <= 1.0:
        message = f"{what}: P(support) is {p_support}, no probability"
        raise AnswerFaultError(message, status="malformed", raw=str(p_support))
