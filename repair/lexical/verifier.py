"""The embedded verifier: an additive model over what `lexical.features` measures.

The model is fitted to be calibrated, and a calibrated model finds almost no claim below .50,
since nearly nine claims in ten are supported. So its log odds are shifted: the result orders
claims and .50 is a useful threshold, but it is a *score*, not a probability. The unshifted
probabilities stand beside it in each verdict (`label_probs`); whoever calibrates uses these.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from ragmend.errors import AnswerFaultError, DataError
from ragmend.records import Claim, Evidence, Source, Verdict
from ragmend.repair.lexical.curves import AdditiveModel, expit
from ragmend.repair.lexical.features import answer_places, claim_features
from ragmend.repair.lexical.parameters import Parameters, load_parameters
from ragmend.repair.lexical.source import VerifiedSource
from ragmend.text.tfidf import Match, best_fragments
from ragmend.text.words import content_stems, words

EVIDENCE_DEPTH = 3  # evidence rows of a greater rank are not looked at, nor were in fitting


class LexicalVerifier:
    """The verifier role played by fitted curves; keeps the source it read last."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        use_answer: bool = False,
        window: int = 1,
        depth: int = EVIDENCE_DEPTH,
    ) -> None:
        """Load the parameters.

        Args:
            path: A parameter file; None: the one that is shipped.
            use_answer: Whether a claim's place in its answer counts. Edited texts stand in no
                answer and are scored by themselves.
            window: Sentences a fragment when edited texts get their evidence; as the claims'.
            depth: Fragments that an edited text gets, as the claims; no more than it looks at.
        """
        self._parameters = load_parameters(path)
        self._use_answer = use_answer
        self._window = window
        self._depth = min(depth, EVIDENCE_DEPTH)
        self._last: VerifiedSource | None = None

    @property
    def name(self) -> str:
        """The name that stands in verdicts and tables."""
        return verifier_name(use_answer=self._use_answer)

    def verify(
        self, source: Source, claims: Sequence[Claim], evidence: Sequence[Evidence]
    ) -> list[Verdict]:
        """Return one verdict a claim, in order.

        Args:
            source: The claims' source.
            claims: Claims of one answer, all of them if the answer counts.
            evidence: The rows found for them; a claim may have none.

        Raises:
            DataError: A row names a fragment that the source does not have.
            AnswerFaultError: A score is not finite.
        """
        log_odds_C = claim_log_odds(
            self._parameters, self._read(source), claims, evidence, use_answer=self._use_answer
        )
        model = self._parameters.answer_model if self._use_answer else self._parameters.claim_model
        return [
            _verdict(claim, model, log_odds, self.name)
            for claim, log_odds in zip(claims, log_odds_C, strict=True)
        ]

    def score_texts(self, source: Source, texts: Sequence[str]) -> list[float]:
        """Return the score of each edited text, in order, each with its own evidence.

        Raises:
            AnswerFaultError: A score is not finite.
        """
        read, model = self._read(source), self._parameters.claim_model
        stems_T = [content_stems(words(text)) for text in texts]
        matches_T = best_fragments(read.reading.tfidf, stems_T, top_k=self._depth)
        commonplaces = self._parameters.commonplaces
        return [
            _score(model, model.log_odds(claim_features(read, text, matches, commonplaces)), text)
            for text, matches in zip(texts, matches_T, strict=True)
        ]

    def _read(self, source: Source) -> VerifiedSource:
        if self._last is None or self._last.source != source:
            self._last = VerifiedSource(source, window=self._window)
        return self._last


def verifier_name(*, use_answer: bool) -> str:
    """Return the name that stands in verdicts and tables."""
    marked = ", with answer-level features" if use_answer else ""
    return f"lexical{marked} (no language model)"


def claim_log_odds(
    parameters: Parameters,
    source: VerifiedSource,
    claims: Sequence[Claim],
    evidence: Sequence[Evidence],
    *,
    use_answer: bool,
) -> list[float]:
    """Return the unshifted log odds of support of each claim of one answer, in order.

    Raises:
        DataError: A row names a fragment that the source does not have.
    """
    matches_of = _matches_by_claim(source, evidence)
    features_C = [
        claim_features(
            source,
            claim.text,
            matches_of.get((claim.record_id, claim.claim_id), ()),
            parameters.commonplaces,
            kind=claim.kind,
        )
        for claim in claims
    ]
    if not use_answer:
        return [parameters.claim_model.log_odds(features) for features in features_C]
    return [
        parameters.answer_model.log_odds((*features, *place))
        for features, place in zip(features_C, answer_places(claims), strict=True)
    ]


def _verdict(claim: Claim, model: AdditiveModel, log_odds: float, name: str) -> Verdict:
    score = _score(model, log_odds, claim.text)
    p_supported = expit(log_odds)
    return Verdict(
        record_id=claim.record_id,
        claim_id=claim.claim_id,
        p_support=score,
        label_probs={"supported": p_supported, "unsupported": 1.0 - p_supported},
        model=name,
    )


def _score(model: AdditiveModel, log_odds: float, text: str) -> float:
    if not math.isfinite(log_odds):
        message = f"the lexical verifier's log odds of {text!r} are {log_odds}, not a finite number"
        raise AnswerFaultError(message, status="non_finite", raw=str(log_odds))
    return expit(log_odds + model.shift)


def _matches_by_claim(
    source: VerifiedSource, evidence: Iterable[Evidence]
) -> dict[tuple[str, str], list[Match]]:
    """Return each claim's evidence, best first, as positions among the source's fragments."""
    matches_of: dict[tuple[str, str], list[Match]] = {}
    for row in sorted(evidence, key=lambda row: row.rank):
        position = source.reading.position_of.get(row.fragment_id)
        if position is None:
            raise DataError(
                f"record {row.record_id}, claim {row.claim_id}: evidence names fragment "
                f"{row.fragment_id!r}, which the source does not have; match the claims anew"
            )
        if row.rank <= EVIDENCE_DEPTH:
            matches = matches_of.setdefault((row.record_id, row.claim_id), [])
            matches.append(Match(position, row.score))
    return matches_of
