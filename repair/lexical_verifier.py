"""The embedded verifier: P(support) from word, number and name evidence, without a model server.

A logistic regression over `ragmend.repair.lexical_features`, fitted by
`ragmend.repair.lexical_fit` on RAGTruth's train split and shipped as readable JSON. Classes
were balanced in fitting, as if half of all claims were unsupported: a calibrated model would
find almost no claim below .50, since nearly nine claims in ten are supported. So the score
orders claims and .50 is a useful threshold, but it is not a calibrated probability.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from ragmend.errors import AnswerFaultError, DataError, MissingInputError
from ragmend.records import Claim, Count, Evidence, Finite, Probability, Record, Source, Verdict
from ragmend.repair.lexical_features import ClaimFeatures, Commonplaces, claim_features
from ragmend.text.reading import SourceReading, read_source
from ragmend.text.tfidf import Match, best_fragments
from ragmend.text.words import content_stems, words

LEXICAL_VERIFIER = "lexical (no language model)"
EVIDENCE_DEPTH = 3  # evidence rows of a greater rank are not looked at, nor were in fitting


class ClaimCounts(Record):
    """How much stood behind a fit, of one task."""

    n_sources: Count
    n_responses: Count
    n_claims: Count
    n_supported: Count


class Fitting(Record):
    """Where the parameters come from.

    Attributes:
        seed: Seed of the development draw and of the solver.
        inverse_penalty: scikit-learn's C.
        training: What was fitted on, by task.
        development: What was held out, by task.
        development_auc: Area under the ROC curve over the held-out claims.
        versions: Versions of the libraries that fitted.
        note: What a reader has to know.
    """

    seed: int
    inverse_penalty: Finite
    training: dict[str, ClaimCounts]
    development: dict[str, ClaimCounts]
    development_auc: Probability | None
    versions: dict[str, str]
    note: str


class LexicalVerifier(Record):
    """A fitted verifier: one mean, scale and coefficient a feature, and an intercept."""

    format_version: Literal[1] = 1
    feature_names: tuple[str, ...]
    means: tuple[Finite, ...]
    scales: tuple[Finite, ...]
    coefficients: tuple[Finite, ...]
    intercept: Finite
    commonplaces: Commonplaces
    fitting: Fitting = Field(repr=False)

    @property
    def name(self) -> str:
        """The name that stands in verdicts and tables."""
        return LEXICAL_VERIFIER

    def describe(self) -> str:
        """Return a line on what was fitted and how well it orders held-out claims."""
        fitting = self.fitting
        auc = fitting.development_auc
        return (
            f"fitted on {_sum_up(fitting.training.values())}; held out "
            f"{_sum_up(fitting.development.values())}, AUC "
            + ("undefined" if auc is None else f"{auc:.4f}")
        )

    @model_validator(mode="after")
    def _fits_the_code(self) -> Self:
        if self.feature_names != ClaimFeatures._fields:
            raise ValueError(f"features {self.feature_names} are not {ClaimFeatures._fields}")
        if {len(self.means), len(self.scales), len(self.coefficients)} != {len(self.feature_names)}:
            raise ValueError("means, scales and coefficients must be one a feature")
        if min(self.scales) <= 0:
            raise ValueError("every scale must be greater than 0")
        return self


class LexicalBackend:
    """The verifier role played by a `LexicalVerifier`; keeps the source it read last."""

    def __init__(self, path: Path | None = None) -> None:
        """Load the parameters.

        Args:
            path: A parameter file; None: the one that is shipped.
        """
        self._verifier = load_verifier(path)
        self._last: tuple[Source, SourceReading] | None = None

    @property
    def name(self) -> str:
        """The name that stands in verdicts and tables."""
        return self._verifier.name

    def verify(
        self, source: Source, claims: Sequence[Claim], evidence: Sequence[Evidence]
    ) -> list[Verdict]:
        """Return one verdict a claim, in order; see `verify_claims`."""
        return verify_claims(self._verifier, self._read(source), claims, evidence)

    def score_texts(self, source: Source, texts: Sequence[str]) -> list[float]:
        """Return P(support) of each text, in order; see `score_texts`."""
        return score_texts(self._verifier, self._read(source), texts)

    def _read(self, source: Source) -> SourceReading:
        if self._last is None or self._last[0] != source:
            self._last = (source, read_source(source))
        return self._last[1]


def parameters_path() -> Path:
    """Return the path of the shipped parameters."""
    return Path(__file__).with_name("lexical_verifier.json")


def load_verifier(path: Path | None = None) -> LexicalVerifier:
    """Read a fitted verifier.

    Args:
        path: A parameter file; None: the one that is shipped.

    Raises:
        MissingInputError: There is no such file.
        DataError: It is not a parameter file for the features of this version.
    """
    path = parameters_path() if path is None else path
    if not path.is_file():
        raise MissingInputError(f"{path}: no such parameter file of the lexical verifier")
    try:
        return LexicalVerifier.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(
            f"{path}: no parameters for this version's features; fit them anew with "
            f"`ragmend fit-verifier`. {error}"
        ) from error


def verify_claims(
    verifier: LexicalVerifier,
    reading: SourceReading,
    claims: Sequence[Claim],
    evidence: Sequence[Evidence],
) -> list[Verdict]:
    """Return one verdict a claim, in order; see `score_claims`."""
    scores = score_claims(verifier, reading, claims, evidence)
    return [
        Verdict(
            record_id=claim.record_id,
            claim_id=claim.claim_id,
            p_support=score,
            model=verifier.name,
        )
        for claim, score in zip(claims, scores, strict=True)
    ]


def score_claims(
    verifier: LexicalVerifier,
    reading: SourceReading,
    claims: Sequence[Claim],
    evidence: Sequence[Evidence],
) -> list[float]:
    """Return P(support) of each claim, in order.

    Args:
        verifier: Fitted parameters.
        reading: The claims' source.
        claims: Claims of any number of answers to it.
        evidence: The rows found for them; a claim may have none.

    Raises:
        DataError: A row names a fragment that the source does not have.
        AnswerFaultError: A score is not finite.
    """
    matches_of = _matches_by_claim(reading, evidence)
    return [
        _score(verifier, reading, claim.text, matches_of.get((claim.record_id, claim.claim_id), ()))
        for claim in claims
    ]


def score_texts(
    verifier: LexicalVerifier, reading: SourceReading, texts: Sequence[str]
) -> list[float]:
    """Return P(support) of each edited text, in order, each with its own evidence.

    A claim's unchanged text scores as in `score_claims` if that had `EVIDENCE_DEPTH` rows.

    Raises:
        AnswerFaultError: A score is not finite.
    """
    stems_T = [content_stems(words(text)) for text in texts]
    matches_T = best_fragments(reading.tfidf, stems_T, top_k=EVIDENCE_DEPTH)
    return [
        _score(verifier, reading, text, matches)
        for text, matches in zip(texts, matches_T, strict=True)
    ]


def _matches_by_claim(
    reading: SourceReading, evidence: Iterable[Evidence]
) -> dict[tuple[str, str], list[Match]]:
    """Return each claim's evidence, best first, as positions among the source's fragments."""
    matches_of: dict[tuple[str, str], list[Match]] = {}
    for row in sorted(evidence, key=lambda row: row.rank):
        position = reading.position_of.get(row.fragment_id)
        if position is None:
            raise DataError(
                f"record {row.record_id}, claim {row.claim_id}: evidence names fragment "
                f"{row.fragment_id!r}, which the source does not have; match the claims anew"
            )
        if row.rank <= EVIDENCE_DEPTH:
            matches = matches_of.setdefault((row.record_id, row.claim_id), [])
            matches.append(Match(position, row.score))
    return matches_of


def _score(
    verifier: LexicalVerifier, reading: SourceReading, text: str, matches: Sequence[Match]
) -> float:
    logit = verifier.intercept + sum(
        coefficient * (value - mean) / scale
        for coefficient, value, mean, scale in zip(
            verifier.coefficients,
            claim_features(reading, text, matches, verifier.commonplaces),
            verifier.means,
            verifier.scales,
            strict=True,
        )
    )
    if not math.isfinite(logit):
        message = f"the lexical verifier's score of {text!r} is {logit}, not a finite number"
        raise AnswerFaultError(message, status="non_finite", raw=str(logit))
    return _expit(logit)


def _expit(logit: float) -> float:
    """Return 1 / (1 + exp(-logit)) without overflow."""
    if logit >= 0.0:
        return 1.0 / (1.0 + math.exp(-logit))
    return math.exp(logit) / (1.0 + math.exp(logit))


def _sum_up(counts: Iterable[ClaimCounts]) -> str:
    listed = list(counts)
    return (
        f"{sum(count.n_claims for count in listed)} claims of "
        f"{sum(count.n_responses for count in listed)} responses to "
        f"{sum(count.n_sources for count in listed)} sources"
    )
