"""Annotated claims, measured: what the verifier is fitted and validated on."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragmend.errors import DataError
from ragmend.records import Claim, GoldSpan, Response, Source, TaskType
from ragmend.repair.lexical.features import answer_places, claim_features
from ragmend.repair.lexical.source import VerifiedSource
from ragmend.repair.lexical.verifier import EVIDENCE_DEPTH
from ragmend.repair.lexical.wording import Commonplaces
from ragmend.repair.splitting.claims import split_claims
from ragmend.scoring import overlaps_any
from ragmend.text.content import supportable_stems
from ragmend.text.tfidf import best_fragments
from ragmend.text.words import content_stems, words

# Areas under the ROC curve of held-out claims, all tasks together: .8745 without weights, .8787
# with 300 stems, .8793 with 1,000.
N_COMMONPLACES = 300


class ClaimExample(NamedTuple):
    """One annotated claim.

    Attributes:
        task_type: The task of its source.
        source_id: Its source.
        record_id: Its answer.
        claim_id: Its id.
        features: One value for each name in `CLAIM_FEATURES`.
        place: One value for each name in `AnswerPlace`.
        is_supported: Whether it shares no character with any annotated span.
        is_answer_hallucinated: Whether its answer has an annotated span.
    """

    task_type: TaskType
    source_id: str
    record_id: str
    claim_id: str
    features: tuple[float, ...]
    place: tuple[float, ...]
    is_supported: bool
    is_answer_hallucinated: bool


class Answered(NamedTuple):
    """A source, read, with its annotated answers."""

    source: VerifiedSource
    answers: list[Response]


def read_answered(
    responses: Iterable[Response], sources: Mapping[str, Source]
) -> Iterator[Answered]:
    """Yield each source with its answers, in the order in which the sources first occur."""
    by_source: dict[str, list[Response]] = {}
    for response in responses:
        by_source.setdefault(response.source_id, []).append(response)
    for source_id, answers in by_source.items():
        yield Answered(VerifiedSource(sources[source_id]), answers)


def find_commonplaces(answered: Iterable[Answered]) -> Commonplaces:
    """Count the stems that answers use without their source having them; no label is read."""
    n_answers = 0
    missing_in: Counter[str] = Counter()
    for source, answers in answered:
        n_answers += len(answers)
        for answer in answers:
            missing_in.update(set(supportable_stems(words(answer.text))) - source.reading.content)
    commonest = sorted(missing_in.items(), key=lambda item: (-item[1], item[0]))
    return Commonplaces(n_answers=n_answers, missing_in=dict(commonest[:N_COMMONPLACES]))


def claim_examples(
    answered: Iterable[Answered], commonplaces: Commonplaces
) -> Iterator[ClaimExample]:
    """Yield every claim of annotated answers with its features, source by source.

    Raises:
        DataError: An answer is not annotated.
    """
    for source, answers in answered:
        for answer in answers:
            yield from _examples_of(source, answer, commonplaces)


def is_supported(claim: Claim, gold_spans: Iterable[GoldSpan]) -> bool:
    """Tell whether a claim shares no character with any annotated span."""
    return not overlaps_any(claim.start, claim.end, ((s.start, s.end) for s in gold_spans))


def _examples_of(
    source: VerifiedSource, answer: Response, commonplaces: Commonplaces
) -> Iterator[ClaimExample]:
    if answer.gold_spans is None:
        raise DataError(f"record {answer.record_id}: not annotated, so nothing can be learned")
    claims = split_claims(answer.text, record_id=answer.record_id)
    stems_C: Sequence[list[str]] = [content_stems(words(claim.text)) for claim in claims]
    matches_C = best_fragments(source.reading.tfidf, stems_C, top_k=EVIDENCE_DEPTH)
    for claim, matches, place in zip(claims, matches_C, answer_places(claims), strict=True):
        yield ClaimExample(
            task_type=source.source.task_type,
            source_id=answer.source_id,
            record_id=answer.record_id,
            claim_id=claim.claim_id,
            features=claim_features(source, claim.text, matches, commonplaces, kind=claim.kind),
            place=place,
            is_supported=is_supported(claim, answer.gold_spans),
            is_answer_hallucinated=bool(answer.gold_spans),
        )
