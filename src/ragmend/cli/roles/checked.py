"""What every verifier's answers are held to before they are recorded, whoever answers."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from ragmend.errors import AnswerFaultError
from ragmend.io import explain, shorten
from ragmend.llm.labels import Support
from ragmend.records import Claim, Evidence, Probability, Source, Verdict
from ragmend.repair.verification import Verifier

PROBABILITY: TypeAdapter[float] = TypeAdapter(Probability)


class CheckedVerifier(NamedTuple):
    """A verifier whose missing, foreign or non-finite answers are faults, never decisions."""

    verifier: Verifier

    @property
    def name(self) -> str:
        """The name that stands in verdicts and tables."""
        return self.verifier.name

    async def verify(
        self, source: Source, answer: str, claims: Sequence[Claim], evidence: Sequence[Evidence]
    ) -> list[Verdict]:
        """Return one verdict a claim, in order.

        Raises:
            AnswerFaultError: A claim has none, or one that is no verdict or not finite; or there
                are more.
        """
        answers = await self.verifier.verify(source, answer, claims, evidence)
        verdicts = [_as_verdict(each) for each in _as_list(answers, "verdicts")]
        expected = [(claim.record_id, claim.claim_id) for claim in claims]
        found = [(verdict.record_id, verdict.claim_id) for verdict in verdicts]
        if found != expected:
            missing = [claim_id for key in expected if key not in found for claim_id in key[1:]]
            what = f"no verdict on claim {missing[0]}" if missing else "verdicts not one a claim"
            message = f"{len(found)} verdicts on {len(expected)} claims: {what}"
            raise AnswerFaultError(message, status="empty" if missing else "malformed")
        return verdicts

    async def score_texts(self, source: Source, answer: str, texts: Sequence[str]) -> list[Support]:
        """Return how far each text is supported, in order (pass 2).

        Raises:
            AnswerFaultError: A text has none, or one that is no probability.
        """
        answers = await self.verifier.score_texts(source, answer, texts)
        scores = _as_list(answers, "scores")
        if len(scores) != len(texts):
            message = f"{len(scores)} scores of {len(texts)} edited texts"
            raise AnswerFaultError(
                message, status="empty" if len(scores) < len(texts) else "malformed"
            )
        return [_as_support(*pair) for pair in zip(texts, scores, strict=True)]


def _as_verdict(answer: object) -> Verdict:
    """Check a verdict again: pydantic lets an unchecked one be made (`model_copy`)."""
    if not isinstance(answer, Verdict):
        raise AnswerFaultError(f"no verdict: {shorten(answer)}", status="malformed")
    try:
        return Verdict.model_validate(vars(answer))
    except ValidationError as error:
        raise _fault(error, f"claim {vars(answer).get('claim_id')}") from error


def _as_support(text: str, score: object) -> Support:
    if not isinstance(score, Support):
        raise AnswerFaultError(f"no score: {shorten(score)}", status="malformed")
    known = (score.p, *(() if score.mass is None else (score.mass,)), *(score.interval or ()))
    try:
        for number in known:
            PROBABILITY.validate_python(number, strict=True)
    except ValidationError as error:
        raise _fault(error, f"edited text {text!r}") from error
    return score


def _as_list(answers: object, what: str) -> list[object]:
    if not isinstance(answers, list | tuple):
        raise AnswerFaultError(f"no list of {what}: {shorten(answers)}", status="malformed")
    return list(answers)


def _fault(error: ValidationError, what: str) -> AnswerFaultError:
    findings = error.errors(include_url=False)
    is_finite = all(finding["type"] != "finite_number" for finding in findings)
    return AnswerFaultError(
        f"{what}: {explain(error, 'P(support)')}",
        status="malformed" if is_finite else "non_finite",
        raw=shorten(findings[0]["input"]),
    )
